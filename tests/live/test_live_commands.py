"""`hardbot dealer` and `hardbot acpc` as a user calls them, and what becomes of the hands."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys

import pytest

from hardbot import cli
from hardbot.bots.registry import create_bot
from hardbot.errors import ModelError
from hardbot.game.cards import HOLE_CARDS
from hardbot.game.notation import parse_log_hand
from hardbot.game.rules import CALL, HEADS_UP
from hardbot.live.play_log import PlayLog, play_folder
from hardbot.live.session import TableSession

HARDBOT = [sys.executable, "-m", "hardbot.cli"]


def start(*arguments, cwd):
    return subprocess.Popen([*HARDBOT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)


def test_a_match_of_three_processes(tmp_path):
    dealer = start(
        "dealer", "--hands", "20", "--seed", "4", "--names", "ann,bob", "--log", "m.log", "--json", cwd=tmp_path
    )
    ports = dealer.stdout.readline().split()
    assert len(ports) == 2
    bots = [
        start("acpc", "127.0.0.1", port, "--bot", bot, "--seed", "4", "--json", cwd=tmp_path)
        for port, bot in zip(ports, ("rulebot", "random"), strict=True)
    ]
    results = [json.loads(bot.communicate(timeout=60)[0]) for bot in bots]
    out, error = dealer.communicate(timeout=60)
    document = json.loads(out)
    assert (dealer.returncode, error) == (0, "")
    assert document["players"] == ["ann", "bob"]
    assert (document["hands"], document["forfeit"]) == (20, None)
    assert document["net_chips"] == [result["net_chips"] for result in results]
    hands = [line for line in (tmp_path / "m.log").read_text().splitlines() if line.startswith("STATE")]
    assert len([parse_log_hand(line, HEADS_UP) for line in hands]) == 20


def test_a_forfeit_is_exit_code_1(tmp_path):
    dealer = start("dealer", "--hands", "5", "--time-limit", "0.3", cwd=tmp_path)
    ports = [int(port) for port in dealer.stdout.readline().split()]
    peers = [socket.create_connection(("127.0.0.1", port)) for port in ports]
    for peer in peers:
        peer.sendall(b"VERSION:2.0.0\r\n")
    out, error = dealer.communicate(timeout=60)
    for peer in peers:
        peer.close()
    assert (dealer.returncode, error) == (1, "")
    assert "forfeit: player2 in hand 0: expected a line from player2 within 0.3 s, got nothing" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dealer", "--bots", "11"], "expected 2 to 10 seats, got 11"),
        (["dealer", "--hands", "0"], "expected at least 1 hand, got 0"),
        (["dealer", "--names", "a,a"], "expected 2 different names"),
        (["dealer", "--start-limit", "0.1"], "expected player1 to connect"),
        (["dealer", "--port0", "99999"], "expected a free port 99999"),
        (["dealer", "--seed", "-1"], "expected a seed of 0 or more"),
        (["acpc", "127.0.0.1", "1", "--connect-limit", "0.1", "--bot", "random"], "expected a dealer at 127.0.0.1:1"),
        (["acpc", "127.0.0.1", "99999", "--bot", "random"], "expected a dealer at 127.0.0.1:99999"),
        (["match", "tcp:", "random"], "expected a command as tcp:COMMAND"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["hardbot", *arguments])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    error = capsys.readouterr().err
    assert stopped.value.code == 2
    assert error.count("\n") == 1
    assert message in error
    assert list(tmp_path.iterdir()) == []


def test_play_logs_are_read_by_the_pipeline_without_a_reject(tmp_path):
    from pipeline.sources.dealer_log import read

    for bots in (["rulebot"], ["random", "rulebot"]):
        table = TableSession(bots, seed=12, n_hands=25, log=PlayLog(tmp_path, name=f"t{len(bots)}", clock=lambda: 1e9))
        while not table.is_finished:
            table.start_hand()
            while not table.is_between_hands:
                table.submit(CALL) if table.is_persons_turn else table.step()
        batches = list(read(table.log.path, hashlib.sha256(table.log.path.read_bytes()).hexdigest()))
        groups = [group for batch in batches for group in batch.groups]
        assert not [reject for batch in batches for reject in batch.rejects]
        assert [group.n_hands for group in groups] == [25]
        assert set(groups[0].names) == {"you", *table.names[1:]}
        assert groups[0].played_at.to_list()[0].isoformat() == "2001-09-09T01:46:40"
        assert (groups[0].holes >= 0).all()


def test_the_play_folder_is_in_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_DATA", str(tmp_path))
    assert play_folder() == tmp_path / "play"


def test_hardbot_shows_its_beliefs_at_the_table():
    table = TableSession(["hardbot:chooser=expert"], seed=5)
    for _ in range(6):
        table.start_hand()
        bot_hole = table._live.hand.deal.holes[1 - table.own_view().seat]
        while not table.is_between_hands:
            table.submit(CALL) if table.is_persons_turn else table.step()
        record = table.records[-1]
        snapshots = table.snapshots(record.hand_number)
        n_actions = len(record.result.betting.text.replace("/", ""))
        assert len(snapshots) == n_actions + 1  # the deal and every action
        for snapshot in snapshots:
            weights = snapshot.beliefs.weights
            assert weights.sum() == pytest.approx(1.0)
            dead = {*bot_hole, *snapshot.board}
            possible = [not dead & set(map(int, cards)) for cards in HOLE_CARDS]
            assert not weights[[not p for p in possible]].any()
        last = snapshots[-1].beliefs
        if last.triple is not None:
            assert sum(last.triple) == pytest.approx(1.0)
            assert last.rule
            assert 0.0 <= last.figures["hs"] <= 1.0


def test_a_model_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HARDBOT_MODEL", str(tmp_path))
    bot = create_bot(f"hardbot:model={tmp_path}")
    with pytest.raises(ModelError, match="expected"):
        _ = bot.model
