"""Every format: recognised by content, read from plain and packed files, each bad record rejected with its reason."""

from __future__ import annotations

import gzip
import io
import tarfile

import numpy as np
import pytest
import zstandard

from hardbot.arena.match import play_match
from hardbot.errors import SourceError
from hardbot.game.cards import hole_index
from hardbot.game.notation import parse_log_hand
from hardbot.game.rules import HEADS_UP, HEADS_UP_IRC, ring
from pipeline.ingest import ingest_file
from pipeline.replay import replay
from pipeline.sources.formats import UNKNOWN, check_format, detect_format, find_units
from pipeline.sources.irc_order import order_actions
from pipeline.sources.records import REJECT_CODES
from pipeline.store import Store, read_decisions, read_hands

HEADER = "# name/game/hands/seed evening holdem.limit.2p.reverse_blinds.game 4 7"
SHOWDOWN = "STATE:0:cc/crc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20:p1|p2"
FOLD = "STATE:1:rf:3hTs|AdQd:-10|10:p2|p1"


@pytest.fixture
def store():
    with Store(":memory:") as opened:
        yield opened


def write(path, *lines, end="\n"):
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return path


def codes(store):
    return dict(store.query("SELECT line, code FROM rejects ORDER BY line").rows())


# ---- dealer logs


def test_stored_hands_are_what_the_notation_parser_reads(tmp_path, store):
    log = tmp_path / "m.log"
    play_match("random", "random", 100, 3, log=log)
    report = ingest_file(store, log)
    lines = [line for line in log.read_text().splitlines() if line.startswith("STATE:")]
    assert (report.format, report.n_hands, report.n_comments) == ("dealer-log", 200, 4)
    for row, line in zip(read_hands(store).iter_rows(named=True), lines, strict=True):
        hand = parse_log_hand(line, HEADS_UP)
        assert (row["source_hand"], row["betting"]) == (str(hand.hand_number), hand.betting.text)
        assert (tuple(row["players"]), tuple(row["board"])) == (hand.players, hand.board)
        assert row["holes"] == [hole_index(*hole) for hole in hand.holes]
        assert row["net_sb"] == [chips / 10 for chips in hand.net_chips]
        assert (row["match"], row["rules"], row["cards_known"]) == ("m", "heads-up", "all")


def test_a_decision_row_says_what_the_actor_faced(tmp_path, store):
    ingest_file(store, write(tmp_path / "m.log", HEADER, SHOWDOWN))
    rows = read_decisions(store).select("seat", "player", "street", "action", "bets_to_call", "raises", "pot_sb").rows()
    assert rows == [
        (1, "p2", 0, 1, 1, 0, 1.5),
        (0, "p1", 0, 1, 0, 0, 2.0),
        (0, "p1", 1, 1, 0, 0, 2.0),
        (1, "p2", 1, 2, 0, 0, 2.0),
        (0, "p1", 1, 1, 1, 1, 3.0),
        (0, "p1", 2, 1, 0, 0, 4.0),
        (1, "p2", 2, 1, 0, 0, 4.0),
        (0, "p1", 3, 1, 0, 0, 4.0),
        (1, "p2", 3, 1, 0, 0, 4.0),
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("STATE:0:cc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:10|-10", "bad_fields"),
        ("STATE:x:rf:3hTs|AdQd:-10|10:p2|p1", "bad_fields"),
        ("STATE:0:rf:3hTs|AdQd:-10|ten:p2|p1", "bad_fields"),
        ("STATE:0:rf:3hTs|AdQd:-10|nan:p2|p1", "bad_fields"),
        ("STATE:0:rf:3hTs|AdQd:-10:p2|p1", "bad_fields"),
        ("nothing of the kind", "bad_fields"),
        ("STATE:0:rf:3hTs|AdXd:-10|10:p2|p1", "bad_cards"),
        ("STATE:0:rf:3hTs|Ts3d:-10|10:p2|p1", "bad_cards"),
        ("STATE:0:rf:3hTs|AdAd:-10|10:p2|p1", "bad_cards"),
        ("STATE:0:cc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/8d:10|-10:p1|p2", "bad_cards"),
        ("STATE:0:cc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h:10|-10:p1|p2", "bad_cards"),
        ("STATE:0:rf:3hTs|AdQd/8dAs8s:-10|10:p2|p1", "bad_cards"),
        ("STATE:0:rf:3hTs:-10|10:p2|p1", "bad_cards"),
        ("STATE:0:rrrrc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20:p1|p2", "bad_betting"),
        ("STATE:0:cf:5d5c|9hQd:10|-10:p1|p2", "bad_betting"),
        ("STATE:0:cc/cc:5d5c|9hQd/8dAs8s:10|-10:p1|p2", "bad_betting"),
        ("STATE:0:cc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:-10|10:p1|p2", "bad_totals"),
        ("STATE:0:cc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:10|-20:p1|p2", "bad_totals"),
        ("STATE:0:rf:3hTs|AdQd:-20|20:p2|p1", "bad_totals"),
        ("STATE:0:r200c/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:200|-200:p1|p2", "no_limit"),
        ("STATE:0:rf:3hTs:0:p1", "table_size"),
    ],
)
def test_bad_line_is_rejected_with_its_code_and_the_others_are_kept(line, code, tmp_path, store):
    report = ingest_file(store, write(tmp_path / "m.log", HEADER, line, SHOWDOWN, FOLD))
    assert codes(store) == {2: code}
    assert (report.n_lines, report.n_records, report.n_hands, report.n_rejects) == (4, 3, 2, 1)
    row = store.query("SELECT * FROM rejects").row(0, named=True)
    assert row["raw"] == line
    assert row["reason"].startswith("expected ") or row["reason"].startswith("illegal ")
    assert row["code"] in REJECT_CODES


def test_a_log_without_its_last_bytes_loses_one_hand_and_gains_it_when_it_is_whole(tmp_path, store):
    whole = "\n".join((HEADER, SHOWDOWN, FOLD)) + "\n"
    (tmp_path / "cut.log").write_text(whole[:-12])
    report = ingest_file(store, tmp_path / "cut.log")
    assert (codes(store), report.n_hands) == ({3: "truncated"}, 1)
    (tmp_path / "cut.log").write_text(whole)
    report = ingest_file(store, tmp_path / "cut.log")
    assert (report.n_hands, report.n_duplicates, report.n_rejects) == (1, 1, 0)


def test_bytes_that_are_no_text_are_rejected_line_by_line(tmp_path, store):
    path = tmp_path / "m.log"
    path.write_bytes("\n".join((HEADER, SHOWDOWN, FOLD.replace("p1", "Zoë"), FOLD, "")).encode("latin-1"))
    report = ingest_file(store, path)
    assert (codes(store), report.n_hands) == ({3: "encoding"}, 2)


@pytest.mark.parametrize(
    ("game", "code"),
    [("holdem.nolimit.2p.reverse_blinds.game", "no_limit"), ("leduc.limit.2p.game", "other_game")],
)
def test_the_header_decides_what_game_a_line_belongs_to(game, code, tmp_path, store):
    header = HEADER.replace("holdem.limit.2p.reverse_blinds.game", game)
    ingest_file(store, write(tmp_path / "m.log", header, SHOWDOWN, FOLD, HEADER, FOLD))
    assert codes(store) == {2: code, 3: code}


def test_permutations_of_a_duplicate_match_are_one_match(tmp_path, store):
    seats = [HEADER.replace("evening", f"evening.perm-{i}") for i in (0, 1)]
    ingest_file(store, write(tmp_path / "m.log", seats[0], SHOWDOWN, seats[1], FOLD))
    assert set(read_hands(store)["match"]) == {"evening"}


def test_logs_of_other_tables_keep_their_blinds(tmp_path, store):
    play_match("random", "always_call", 20, 5, log=tmp_path / "irc.log", rules=HEADS_UP_IRC)
    report = ingest_file(store, tmp_path / "irc.log")
    assert (report.n_hands, report.n_rejects) == (40, 0)
    assert set(read_hands(store)["rules"]) == {"heads-up-irc"}


def test_a_time_stamp_after_the_line_is_the_time_of_the_hand(tmp_path, store):
    ingest_file(store, write(tmp_path / "m.log", HEADER, FOLD + " # 1479132064.5"))
    assert str(read_hands(store)["played_at"][0]) == "2016-11-14 14:01:04.500000"


# ---- packing and recognition


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
def test_packing_is_seen_by_content_not_by_name(packing, tmp_path, store):
    data = "\n".join((HEADER, SHOWDOWN, FOLD, "")).encode()
    pack = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}[packing]
    path = tmp_path / "hands"
    path.write_bytes(pack(data))
    assert ingest_file(store, path).n_hands == 2


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_cut_off_archive_is_an_error_and_stores_nothing(packing, tmp_path, store):
    lines = [FOLD.replace("STATE:1", f"STATE:{number}") for number in range(3_000)]
    data = "\n".join((HEADER, *lines, "")).encode()
    packed = gzip.compress(data) if packing == "gzip" else zstandard.ZstdCompressor().compress(data)
    (tmp_path / "m.log.gz").write_bytes(packed[:-20])
    with pytest.raises(SourceError, match=r"expected a whole compressed file.*damaged or cut off"):
        ingest_file(store, tmp_path / "m.log.gz")
    assert store.table_counts()["hands"] == store.table_counts()["files"] == 0
    (tmp_path / "m.log.gz").write_bytes(packed)
    assert ingest_file(store, tmp_path / "m.log.gz").n_hands == 3_000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff\x10" * 999,
        np.random.default_rng(1).bytes(5_000),
        b"# just\n# comments\n",
        b"PK\x03\x04" + b"x" * 99,
    ],
    ids=["empty", "zeros", "noise", "comments", "zip"],
)
def test_garbage_is_one_reject_of_unknown_format(data, tmp_path, store):
    (tmp_path / "x.bin").write_bytes(data)
    report = ingest_file(store, tmp_path / "x.bin")
    assert (report.format, report.n_records, report.rejects) == (UNKNOWN, 1, {"unknown_format": 1})


def test_a_file_of_unknown_format_is_read_once_its_format_is_given(tmp_path, store):
    path = write(tmp_path / "m.txt", "# a remark", "x" * 9_000, SHOWDOWN)
    assert ingest_file(store, path).rejects == {"unknown_format": 1}
    assert ingest_file(store, path).status == "known"
    report = ingest_file(store, path, format="dealer-log")
    assert (report.status, report.n_hands, report.rejects) == ("new", 1, {"bad_fields": 1})
    assert store.table_counts()["files"] == 1
    assert codes(store) == {2: "bad_fields"}


def test_an_unheard_of_format_is_refused():
    with pytest.raises(SourceError, match="expected a format of dealer-log, 2009-log, irc, phh, got 'csv'"):
        check_format("csv")


def test_a_folder_stands_for_its_files_but_not_the_hidden_ones(tmp_path):
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "month" / "pdb").mkdir(parents=True)
    for name in ("b.log", "a/deep/x.log", "a/.hidden", "month/hdb", "month/pdb/pdb.ann"):
        (tmp_path / name).touch()
    names = [path.relative_to(tmp_path).as_posix() for path in find_units([tmp_path])]
    assert names == ["a/deep/x.log", "b.log", "month"]


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_a_path_without_files_is_an_error(name, tmp_path):
    (tmp_path / "empty" / "inside").mkdir(parents=True)
    with pytest.raises(SourceError, match=r"expected (hand histories in the folder|a file or folder)"):
        find_units([tmp_path / name])


# ---- 2009


def test_the_2009_form_gives_the_same_hands(tmp_path, store):
    header = ["# GAMESTATE 2.0", "## type: Limit Texas Hold'em", "# Values: 5 10", "#"]
    old = [
        "p1|p2:0:cc/crc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20",
        "p2|p1:1:b10b5rf:3hTs|AdQd:-10|10",
        "p2|p1:2:rf:3hTs|AdQd:-10|11",
    ]
    path = write(tmp_path / "evening.log", *header, *old)
    report = ingest_file(store, path)
    assert (report.format, report.n_lines, report.n_comments, report.n_hands) == ("2009-log", 7, 4, 2)
    assert codes(store) == {7: "bad_totals"}
    again = ingest_file(store, write(tmp_path / "new.log", HEADER, SHOWDOWN, FOLD))
    assert (again.format, again.n_hands, again.n_duplicates) == ("dealer-log", 0, 2)


def test_the_2009_form_is_recognised_without_its_header(tmp_path):
    path = write(tmp_path / "x", "# hands", "p1|p2:0:rc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20")
    assert detect_format(path) == "2009-log"


def test_a_2009_log_of_a_no_limit_game_is_rejected(tmp_path, store):
    ingest_file(store, write(tmp_path / "x.log", "## type: No-Limit Hold'em", "p2|p1:1:rf:3hTs|AdQd:-10|10"))
    assert codes(store) == {2: "no_limit"}


# ---- IRC


def month_files(hands):
    """Files of an IRC month from (hdb tail, player lines without the time stamp), a time stamp a hand."""
    hdb, roster, players = [], [], {}
    for number, (tail, lines) in enumerate(hands):
        stamp = 900_000_000 + number
        n = lines[0].split()[1] if lines else "2"
        hdb.append(f"{stamp}   1  {number + 1}  {n}  {tail}")
        roster.append(f"{stamp}  {n} " + " ".join(line.split()[0] for line in lines))
        for line in lines:
            name, rest = line.split(maxsplit=1)
            players.setdefault(name, []).append(f"{name} {stamp} {rest}")
    files = {"hdb": hdb, "hroster": roster} | {f"pdb/pdb.{name}": lines for name, lines in players.items()}
    return {name: ("\n".join(lines) + "\n").encode("latin-1") for name, lines in files.items()}


def write_folder(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def write_archive(path, files, prefix="holdem/199801/"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(prefix + name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    path.write_bytes(gzip.compress(buffer.getvalue(), mtime=0))
    return path


IRC_SHOWDOWN = (
    "2/20 2/40 2/80 2/80 Qc Ks 8s Jh Tc",
    ["ann 2 1 Bc b b k 1000 40 80 Ah 2d", "bob 2 2 Bk c c k 1000 40 0 9d 3c"],
)
IRC_FOLD = ("0/0 0/0 0/0 1/15", ["bob 2 1 Bf - - - 1000 5 0", "ann 2 2 B - - - 1000 10 15"])
IRC_RING = (
    "2/45 0/0 0/0 1/55 Qc Ks 8s",
    ["ann 3 1 Bf - - - 1000 5 0", "bob 3 2 Bc kf - - 1000 20 0", "cyd 3 3 r b - - 1000 30 55"],
)
IRC_UNCAPPED = ("2/140 0/0 0/0 1/140 Qc Ks 8s", ["ann 2 1 Brrrc f - - 9 70 0", "bob 2 2 Brrr - - - 9 70 140"])
IRC_LEAVES = ("2/20 0/0 0/0 1/20 Qc Ks 8s", ["ann 2 1 Bc k - - 1000 10 20", "bob 2 2 Bk Q - - 1000 10 0"])


def test_irc_hand_is_joined_and_interleaved(tmp_path, store):
    report = ingest_file(store, write_folder(tmp_path / "holdem" / "199801", month_files([IRC_SHOWDOWN, IRC_FOLD])))
    assert (report.format, report.n_lines, report.n_hands) == ("irc", 2, 2)
    rows = read_hands(store).to_dicts()
    assert [row["betting"] for row in rows] == ["cc/rc/rc/cc", "f"]
    assert [row["players"] for row in rows] == [["ann", "bob"], ["bob", "ann"]]
    assert [row["net_sb"] for row in rows] == [[4.0, -4.0], [-0.5, 0.5]]
    assert [row["cards_known"] for row in rows] == ["all", "none"]
    assert {(row["match"], row["rules"]) for row in rows} == {("holdem.199801", "heads-up-irc")}
    assert str(rows[1]["played_at"]) == "1998-07-09 16:00:01"


def test_irc_archive_and_folder_hold_the_same_hands(tmp_path, store):
    files = month_files([IRC_SHOWDOWN, IRC_FOLD, IRC_RING])
    first = ingest_file(store, write_archive(tmp_path / "holdem.199801.tgz", files))
    again = ingest_file(store, write_folder(tmp_path / "holdem" / "199801", files))
    assert (first.n_hands, first.n_heads_up, again.n_hands, again.n_duplicates) == (3, 2, 0, 3)


def test_irc_stakes_are_scaled_by_the_months_own_ratio(tmp_path, store):
    big = (
        IRC_FOLD[0].replace("15", "75"),
        [line.replace(" 10 15", " 50 75").replace(" 5 0", " 25 0") for line in IRC_FOLD[1]],
    )
    report = ingest_file(store, write_folder(tmp_path / "m", month_files([big, big, IRC_FOLD])))
    assert (report.n_hands, report.rejects) == (2, {"bad_totals": 1})
    assert read_hands(store)["net_sb"].to_list() == [[-0.5, 0.5]] * 2


def test_irc_raises_beyond_the_cap_are_kept_and_marked(tmp_path, store):
    report = ingest_file(store, write_folder(tmp_path / "m", month_files([IRC_UNCAPPED])))
    assert (report.n_hands, report.rejects) == (1, {})
    rows = read_decisions(store).select("action", "clipped").rows()
    assert rows[:3] == [(2, False)] * 3
    assert rows[3:6] == [(2, True)] * 3


def test_irc_player_who_leaves_where_checking_is_free_folds(tmp_path, store):
    ingest_file(store, write_folder(tmp_path / "m", month_files([IRC_LEAVES])))
    assert read_hands(store)["betting"].to_list() == ["cc/cf"]
    assert read_decisions(store).select("action", "clipped").rows()[-1] == (0, True)


@pytest.mark.parametrize(
    ("tail", "lines", "code"),
    [
        ("0/0 0/0 0/0 1/10", ["ann 2 1 B - - - 9 10 10", "bob 2 2 f - - - 9 0 0"], "one_blind"),
        (
            "0/0 0/0 0/0 1/25",
            ["ann 3 1 Bf - - - 9 5 0", "bob 3 2 B - - - 9 10 25", "cyd 3 3 Bf - - - 9 10 0"],
            "extra_blind",
        ),
        ("2/20 2/40 2/60 2/60 Qc Ks 8s Jh Tc", ["ann 2 1 Bc b kA - 9 30 60", "bob 2 2 Bk c c - 9 30 0"], "all_in"),
        ("0/0 0/0 0/0 1/15", ["ann 2 1 B - - - 9 5 15", "bob 2 2 BQ - - - 9 10 0"], "left_early"),
        ("2/20 0/0 0/0 1/20 Qc Ks 8s", ["ann 2 1 Bc k - - 9 10 0", "bob 2 2 Bk - - - 9 10 20"], "out_of_order"),
        ("2/20 0/0 0/0 1/20 Qc Ks 8s", ["ann 2 1 Bc b - - 9 10 0", "bob 2 2 Bk k - - 9 10 20"], "out_of_order"),
        ("0/0 0/0 0/0 1/15", ["ann 2 1 Bf - - - 9 5 0"], "missing_player"),
        ("0/0 0/0 0/0 1/15", ["ann 2 1 Bf - - - 9 5 0", "bob 2 1 B - - - 9 10 15"], "missing_player"),
        ("0/0 0/0 0/0 1/15", ["ann 2 1 Bf - - - 9 5 0", "bob 3 2 B - - - 9 10 15"], "missing_player"),
        ("0/0 0/0 0/0 1/15", ["ann 2 1 Bf - - - 9 5 0", "bob 2 2 B - - - 9 10"], "missing_player"),
        ("0/0 0/0 0/0 1/15", [f"p{i} 11 {i} {'B' if i < 3 else 'f'} - - - 9 0 0" for i in range(1, 12)], "table_size"),
        ("2/20 0/0 0/0 1/20 Qc Ks", ["ann 2 1 Bc k - - 9 10 20", "bob 2 2 Bk Q - - 9 10 0"], "bad_cards"),
        ("2/20 0/0 0/0 1/20 Qc Ks Xx", ["ann 2 1 Bc k - - 9 10 20", "bob 2 2 Bk Q - - 9 10 0"], "bad_cards"),
        ("2/30 0/0 0/0 1/20 Qc Ks 8s", ["ann 2 1 Bc k - - 9 10 20", "bob 2 2 Bk Q - - 9 10 0"], "bad_totals"),
        ("0/0 0/0 0/0 1/15", ["ann 2 1 Bf - - - 9 5 15", "bob 2 2 B - - - 9 10 0"], "bad_totals"),
        ("0/0", ["ann 2 1 Bf - - - 9 5 0", "bob 2 2 B - - - 9 10 15"], "bad_fields"),
    ],
)
def test_irc_hand_that_cannot_be_is_rejected_with_its_code(tail, lines, code, tmp_path, store):
    bad_at = 2
    hands = [IRC_SHOWDOWN, (tail, lines), IRC_FOLD, IRC_FOLD]
    report = ingest_file(store, write_folder(tmp_path / "m", month_files(hands)))
    rejects = store.query("SELECT line, code FROM rejects WHERE line > 0").rows()
    assert rejects == [(bad_at, code)]
    assert report.n_hands == 3
    assert report.n_lines == report.n_records


def test_irc_player_records_without_a_hand_are_one_reject(tmp_path, store):
    files = month_files([IRC_SHOWDOWN, IRC_FOLD])
    files["hdb"] = files["hdb"].splitlines(keepends=True)[0] + b"\n"
    report = ingest_file(store, write_folder(tmp_path / "m", files))
    assert codes(store) == {0: "missing_player"}
    assert (report.n_lines, report.n_records, report.n_comments, report.n_hands) == (3, 2, 1, 1)


def test_irc_names_outside_of_ascii_survive(tmp_path, store):
    named = IRC_FOLD[0], [line.replace("ann", "Zo\xeb^") for line in IRC_FOLD[1]]
    ingest_file(store, write_folder(tmp_path / "m", month_files([named])))
    assert read_hands(store)["players"].to_list() == [["bob", "Zo\xeb^"]]


def test_tar_without_an_irc_month_is_an_error(tmp_path, store):
    path = write_archive(tmp_path / "x.tgz", {"notes.txt": b"nothing"})
    with pytest.raises(SourceError, match="expected an IRC month"):
        ingest_file(store, path)


def test_damaged_tar_is_an_error(tmp_path, store):
    path = write_archive(tmp_path / "x.tgz", month_files([IRC_SHOWDOWN] * 30))
    whole = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(whole[:1_000]))
    with pytest.raises(SourceError, match="expected a whole archive"):
        ingest_file(store, path)


def test_quit_left_over_from_a_street_folds_at_the_next_turn():
    ordered = order_actions((("Bc", "kQ", "-", "-"), ("Bk", "k", "-", "-")))
    assert (ordered.betting, ordered.code) == ("cc/cc/f", "")
    ordered = order_actions((("Bc", "k", "-", "-"), ("Bc", "kQ", "-", "-"), ("c", "b", "-", "-")))
    assert ordered.code == "out_of_order"


def test_position_one_opens_every_street_heads_up_and_the_third_preflop_at_a_ring():
    two = order_actions((("Br", "b", "-", "-"), ("Bc", "f", "-", "-")))
    three = order_actions(
        (
            ("Bc", "k", "-", "-"),
            ("Bk", "b", "-", "-"),
            ("c", "f", "-", "-"),
        )
    )
    assert two.betting == "rc/rf"
    assert three.code == "out_of_order"  # position 1 checked and never answered the bet
    assert order_actions((("Bc", "kf", "-", "-"), ("Bk", "b", "-", "-"), ("c", "f", "-", "-"))).betting == "ccc/crff"


# ---- PHH

PHH = """variant = 'FT'
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
small_bet = 2
big_bet = 4
starting_stacks = [100, 100, 100]
actions = ['d dh p1 AhKd', 'd dh p2 ????', 'd dh p3 2c2d', 'p3 cbr 4', 'p1 cc', 'p2 f', 'd db QhJhTh', 'p1 cc', 'p3 f']
players = ['ann', 'bob', 'cyd']
hand = 7
finishing_stacks = [106, 98, 96]
"""


def test_phh_hand_is_read_with_its_stakes_scaled(tmp_path, store):
    broken = PHH.replace("'p1 cc', 'p3 f'", "'p1 cbr 2', 'p3 f'")
    report = ingest_file(store, write(tmp_path / "x.phh", broken, end=""))
    assert (report.format, report.n_hands, report.n_lines) == ("phh", 1, None)
    row = read_hands(store, ["ring-3"]).row(0, named=True)
    assert (row["betting"], row["source_hand"], row["cards_known"]) == ("rcf/rf", "7", "showdown")
    assert row["net_sb"] == [3.0, -1.0, -2.0]
    assert row["holes"][1] is None


def test_phhs_sections_are_records_of_their_own(tmp_path, store):
    good = PHH.replace("'p1 cc', 'p3 f'", "'p1 cbr 2', 'p3 f'")
    sections = [good, good.replace("hand = 7", "hand = 8"), good, "variant = 'FT'", "variant = oops", PHH]
    text = "".join(f"[{number}]\n{section}\n" for number, section in enumerate(sections, 1))
    report = ingest_file(store, write(tmp_path / "x.phhs", text))
    assert (report.n_records, report.n_hands, report.n_duplicates, report.n_rejects) == (6, 3, 1, 2)
    assert report.rejects == {"bad_fields": 2}


def heads_up_phh(blinds, actions):
    return (
        f"variant = 'FT'\nantes = [0, 0]\nblinds_or_straddles = {blinds}\nsmall_bet = 10\nbig_bet = 20\n"
        f"starting_stacks = [500, 500]\nactions = {actions}\n"
    )


@pytest.mark.parametrize(
    ("blinds", "actions", "rules", "players"),
    [
        ([5, 10], ["p2 cbr 20", "p1 f"], "heads-up", ["p1", "p2"]),
        ([5, 10], ["p1 cc", "p2 cc", "d db 2c3c4c", "p2 cbr 10", "p1 f"], "heads-up", ["p2", "p1"]),
        ([10, 5], ["p1 cc", "p2 cc", "d db 2c3c4c", "p1 cbr 10", "p2 f"], "heads-up-irc", ["p1", "p2"]),
    ],
    ids=["big blind first", "button first", "blinds not reversed"],
)
def test_phh_actions_tell_who_has_the_button_heads_up(blinds, actions, rules, players, tmp_path, store):
    report = ingest_file(store, write(tmp_path / "x.phh", heads_up_phh(blinds, actions)))
    assert report.rejects == {}
    assert read_hands(store).select("rules", "players").rows() == [(rules, players)]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("'FT'", "'NT'"), "no_limit"),
        (("'FT'", "'FO/8'"), "other_game"),
        (("antes = [0, 0]", "antes = [1, 1]"), "ante"),
        (("[5, 10]", "[5, 20]"), "ante"),
        (("[500, 500]", "[10, 500]"), "all_in"),
        (("'p1 f'", "'p2 f'"), "out_of_order"),
        (("'p1 f'", "'p1 go'"), "bad_betting"),
        (("'p1 f'", "'p1 cc'"), "truncated"),
        (("'p1 f'", "'p9 f'"), "bad_fields"),
        (("'p2 cbr 20'", "'d dh p1 AhAh', 'p2 cbr 20'"), "bad_cards"),
        (("'p2 cbr 20'", "'d dh p1 AhKh', 'd dh p2 AhQd', 'p2 cbr 20'"), "bad_cards"),
        (("[500, 500]", "[500]"), "table_size"),
        (("small_bet", "small"), "bad_fields"),
    ],
)
def test_phh_hand_that_cannot_be_is_rejected_with_its_code(change, code, tmp_path, store):
    text = heads_up_phh([5, 10], ["p2 cbr 20", "p1 f"])
    assert change[0] in text
    report = ingest_file(store, write(tmp_path / "x.phh", text.replace(*change)))
    assert report.rejects == {code: 1}


def test_phh_in_another_encoding_is_rejected(tmp_path, store):
    (tmp_path / "x.phh").write_bytes((heads_up_phh([5, 10], ["p2 f"]) + "author = 'Zo\xeb'\n").encode("latin-1"))
    assert ingest_file(store, tmp_path / "x.phh").rejects == {"encoding": 1}


# ---- replays


@pytest.mark.parametrize("text", ["", "x", "cc/", "cc/cc/cc/cc/", "c/c", "rrrrf", "cf", "fc"])
def test_replay_of_no_hand_says_why(text):
    assert replay(HEADS_UP, False, text).error


def test_recorded_tables_take_more_raises_and_free_folds_but_presets_do_not():
    for text in ("rrrrrf", "cc/f"):
        assert replay(HEADS_UP_IRC, False, text).error
        assert not replay(HEADS_UP_IRC, True, text).error
    assert replay(ring(3), True, "ccc/ff").live == (False, False, True)


# ---- damage


def damaged(data, rng):
    """The bytes with a few of them changed, doubled, lost or cut off."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        place, length = int(rng.integers(len(data))), int(rng.integers(1, 40))
        kind = rng.integers(4)
        if kind == 0:
            data[place] = int(rng.choice(list(b"09|:/rcfkQAB-[]', p\n\xe9\x00")))
        elif kind == 1:
            data[place:place] = data[length : 2 * length]
        elif kind == 2:
            del data[place : place + length]
        else:
            del data[max(1, place) :]
    return bytes(data)


@pytest.mark.parametrize("format_name", ["dealer-log", "2009-log", "irc", "phh"])
def test_damage_anywhere_is_rejects_or_an_error_and_the_counts_add_up(format_name, tmp_path, store):
    texts = {
        "dealer-log": "\n".join([HEADER, SHOWDOWN, FOLD] * 3),
        "2009-log": "## type: limit\n" + "p2|p1:1:rf:3hTs|AdQd:-10|10\n" * 3,
        "phh": f"[1]\n{PHH}[2]\n{heads_up_phh([5, 10], ['p2 cbr 20', 'p1 f'])}",
    }
    rng, n_rejects = np.random.default_rng(3), 0
    for number in range(25):
        if format_name == "irc":
            files = month_files([IRC_SHOWDOWN, IRC_FOLD, IRC_RING, IRC_LEAVES])
            name = sorted(files)[number % len(files)]
            path = write_folder(tmp_path / str(number), files | {name: damaged(files[name], rng)})
        else:
            path = tmp_path / str(number)
            path.write_bytes(damaged(texts[format_name].encode(), rng))
        report = ingest_file(store, path, format=format_name)  # checks its own counts
        n_rejects += report.n_rejects
        assert set(report.rejects) <= set(REJECT_CODES)
    assert n_rejects > 10
    counts = store.table_counts()
    assert counts["hands"] == store.value("SELECT sum(n_hands) FROM files")
    assert counts["rejects"] == store.value("SELECT sum(n_rejects) FROM files")
