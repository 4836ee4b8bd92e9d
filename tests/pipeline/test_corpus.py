"""A corpus of our own: the same arguments give the same file; hands go to PokerKit and back unchanged."""

from __future__ import annotations

import gzip
import json
import sys
import tomllib
from pathlib import Path

import pytest
from pokerkit import HandHistory

from hardbot import cli
from hardbot.arena.ring import play_ring
from hardbot.errors import ArenaError, BotError, SourceError
from pipeline.corpus import make_corpus, split_bots
from pipeline.export import export_phh
from pipeline.ingest import ingest, ingest_file
from pipeline.store import Store, read_hands

BOTS = ("random", "always_call", "always_raise")
N_HANDS = 90


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "own.log.gz"
    make_corpus(BOTS, N_HANDS, 5, path)
    return path


def run_cli(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["hardbot", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out, err = capsys.readouterr()
    return int(stopped.value.code or 0), out, err


# ---- making


def test_every_pair_of_bots_plays_its_share(log):
    with Store(":memory:") as store:
        report = ingest_file(store, log)
        hands = read_hands(store)
    assert (report.n_hands, report.n_rejects, report.n_duplicates) == (N_HANDS, 0, 0)
    matches = {row["match"]: set() for row in hands.iter_rows(named=True)}
    for row in hands.iter_rows(named=True):
        matches[row["match"]].add(frozenset(row["players"]))
    assert matches == {
        "own.01.random-always_call": {frozenset({"random", "always_call"})},
        "own.02.random-always_raise": {frozenset({"random", "always_raise"})},
        "own.03.always_call-always_raise": {frozenset({"always_call", "always_raise"})},
    }
    assert hands.group_by("match").len()["len"].to_list() == [30, 30, 30]


def test_matches_have_deals_of_their_own(log):
    with Store(":memory:") as store:
        ingest_file(store, log)
        first = read_hands(store).group_by("match").first()
    assert first["holes"].n_unique() == 3


def test_the_same_arguments_give_the_same_file_and_another_seed_another(log, tmp_path):
    make_corpus(BOTS, N_HANDS, 5, tmp_path / "own.log.gz")
    assert (tmp_path / "own.log.gz").read_bytes() == log.read_bytes()
    make_corpus(BOTS, N_HANDS, 5, tmp_path / "own.log")
    assert (tmp_path / "own.log").read_bytes() == gzip.decompress(log.read_bytes())
    make_corpus(BOTS, N_HANDS, 6, tmp_path / "own.log")
    assert (tmp_path / "own.log").read_bytes() != gzip.decompress(log.read_bytes())


def test_one_bot_plays_itself(tmp_path):
    matches = make_corpus(["random"], 10, 1, tmp_path / "x.log")
    assert [(match.bots, match.hands) for match in matches] == [(("random", "random"), 10)]
    assert "random|random-2" in (tmp_path / "x.log").read_text()


@pytest.mark.parametrize(
    ("bots", "n_hands", "error"),
    [([], 10, ArenaError), (BOTS, 5, ArenaError), (["nobody", "random"], 10, BotError)],
    ids=["no bots", "too few hands", "unknown bot"],
)
def test_impossible_corpora_are_refused_and_leave_nothing(bots, n_hands, error, tmp_path):
    with pytest.raises(error, match="expected"):
        make_corpus(bots, n_hands, 1, tmp_path / "x.log")
    assert list(tmp_path.iterdir()) == []


def test_bots_with_options_are_told_apart_by_commas():
    assert split_bots("rulebot, loki:trials=100,noise=0.4,random,") == [
        "rulebot",
        "loki:trials=100,noise=0.4",
        "random",
    ]


# ---- exporting


def read_with_pokerkit(path):
    with Path(path).open("rb") as file:
        return list(HandHistory.load_all(file))


def test_pokerkit_reads_the_export_and_agrees_on_every_payoff(log, tmp_path):
    report = export_phh(log, tmp_path / "own.phhs")
    assert (report.n_hands, report.n_skipped) == (N_HANDS, 0)
    for history in read_with_pokerkit(tmp_path / "own.phhs"):
        *_, final = history
        wanted = [
            after - before for after, before in zip(history.finishing_stacks, history.starting_stacks, strict=True)
        ]
        assert list(final.payoffs) == wanted


def test_pokerkit_agrees_at_ring_tables(tmp_path):
    play_ring(["random", "random", "always_call", "always_raise"], 8, 3, log=tmp_path / "ring.log")
    report = export_phh(tmp_path / "ring.log", tmp_path / "ring.phhs")
    assert report.n_hands == 32
    for history in read_with_pokerkit(tmp_path / "ring.phhs"):
        *_, final = history
        wanted = [
            after - before for after, before in zip(history.finishing_stacks, history.starting_stacks, strict=True)
        ]
        assert list(final.payoffs) == pytest.approx(wanted, abs=1.5)  # rooms differ in where odd chips go
        assert sum(wanted) == 0


def test_exported_hands_come_back_as_duplicates(log, tmp_path):
    export_phh(log, tmp_path / "own.phhs.gz")
    with Store(tmp_path / "s.duckdb") as store:
        ingest([log], store)
        back = ingest_file(store, tmp_path / "own.phhs.gz")
    assert (back.n_hands, back.n_duplicates, back.n_rejects) == (0, N_HANDS, 0)
    report = export_phh(tmp_path / "s.duckdb", tmp_path / "again.phhs")
    assert report.n_hands == N_HANDS
    assert (tmp_path / "again.phhs").read_bytes() == gzip.decompress((tmp_path / "own.phhs.gz").read_bytes())


IRC_HDB = b"""900000000 1 1 2 2/20 2/40 2/80 2/80 Qc Ks 8s Jh Tc
900000001 1 2 2 2/140 0/0 0/0 1/140 Qc Ks 8s
900000002 1 3 2 2/20 2/20 2/20 2/20 Qc Ks 8s Jh Tc
"""
IRC_ANN = b"""an"n 900000000 2 1 Bc b b k 1000 40 80 Ah 2d
an"n 900000001 2 1 Brrrc f - - 9 70 0
an"n 900000002 2 1 Bc k k k 9 10 0 2h 3h
"""
IRC_BOB = b"""bob 900000000 2 2 Bk c c k 1000 40 0 9d 3c
bob 900000001 2 2 Brrr - - - 9 70 140
bob 900000002 2 2 Bk k k k 9 10 20
"""


def test_blinds_that_are_not_reversed_survive_and_hands_beyond_the_cap_are_counted_out(tmp_path):
    month = tmp_path / "holdem" / "199801"
    (month / "pdb").mkdir(parents=True)
    for name, data in {"hdb": IRC_HDB, "hroster": b"", "pdb/pdb.ann": IRC_ANN, "pdb/pdb.bob": IRC_BOB}.items():
        (month / name).write_bytes(data)
    report = export_phh(month, tmp_path / "irc.phhs")
    assert (report.n_hands, report.n_skipped) == (2, 1)
    histories = read_with_pokerkit(tmp_path / "irc.phhs")
    assert histories[0].players == ['an"n', "bob"]
    finals = [list(history)[-1] for history in histories]
    assert list(finals[0].payoffs) == [40, -40]
    with Store(":memory:") as store:
        ingest_file(store, tmp_path / "irc.phhs")
        rows = read_hands(store).select("rules", "betting", "cards_known").rows()
    assert rows == [("heads-up-irc", "cc/rc/rc/cc", "all"), ("heads-up-irc", "cc/cc/cc/cc", "showdown")]


def test_only_the_matches_asked_for_are_exported(log, tmp_path):
    assert export_phh(log, tmp_path / "x.phhs", match="*random-always_call").n_hands == N_HANDS // 3
    events = {hand["event"] for hand in tomllib.loads((tmp_path / "x.phhs").read_text()).values()}
    assert events == {"own.01.random-always_call"}


def test_an_export_without_a_place_is_refused(log, tmp_path):
    with pytest.raises(SourceError, match="expected a file to write"):
        export_phh(log, tmp_path / "nowhere" / "x.phhs")


def test_commands_make_and_export(tmp_path, monkeypatch, capsys):
    log, phh = tmp_path / "own.log", tmp_path / "own.phhs"
    arguments = ("corpus", "make", "--bots", "random,always_call", "--hands", 20, "--seed", 1, "--out", log, "--json")
    code, out, err = run_cli(monkeypatch, capsys, *arguments)
    assert (code, err) == (0, "")
    assert [match["hands"] for match in json.loads(out)["matches"]] == [20]
    code, out, err = run_cli(monkeypatch, capsys, "corpus", "export", log, "--out", phh, "--json")
    assert (code, err, json.loads(out)["n_hands"]) == (0, "", 20)
    code, out, err = run_cli(monkeypatch, capsys, "corpus", "export", log, "--out", phh)
    assert (code, out) == (0, f"{phh}: 20 hands\n")
