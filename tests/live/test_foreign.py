"""Programs behind sockets as bots of the arena."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from hardbot.arena.match import play_match
from hardbot.arena.ring import play_ring
from hardbot.bots.registry import create_bot
from hardbot.errors import ArenaError, BotError
from hardbot.live.foreign import ForeignBot

# A player in a few lines that knows nothing of hardbot: it calls at every state, its turn or not.
CALLER = """
import socket, sys
connection = socket.create_connection((sys.argv[-2], int(sys.argv[-1])))
connection.sendall(b"VERSION:2.0.0\\r\\n")
try:
    for line in connection.makefile("rb"):
        connection.sendall(b"# thinking\\r\\n" + line.strip() + b":c\\r\\n")
except ConnectionError:
    pass  # the dealer hung up with answers unread
"""


def program(tmp_path, text):
    path = tmp_path / "player.py"
    path.write_text(text)
    return f"tcp:{sys.executable} {path}"


@pytest.fixture
def started(monkeypatch):
    """Every process that is started."""
    found = []
    original = subprocess.Popen

    def record(*arguments, **options):
        found.append(original(*arguments, **options))
        return found[-1]

    monkeypatch.setattr("hardbot.live.foreign.subprocess.Popen", record)
    return found


def test_a_foreign_caller_plays_like_ours_and_its_processes_end(tmp_path, started):
    foreign = play_match("rulebot", program(tmp_path, CALLER), 30, 5)
    ours = play_match("rulebot", "always_call", 30, 5, compiled=False)
    assert foreign.pair_chips.tolist() == ours.pair_chips.tolist()
    assert foreign.interval == "blocks"  # it may learn, for all we know
    gc.collect()
    assert len(started) == 2  # one a side
    assert [process.poll() for process in started] == [0, 0]


def test_our_own_client_is_a_foreign_program(tmp_path):
    command = f"tcp:{sys.executable} -m hardbot.cli acpc --bot always_raise"
    foreign = play_match(command, "random", 10, 6)
    ours = play_match("always_raise", "random", 10, 6, compiled=False)
    assert foreign.pair_chips.tolist() == ours.pair_chips.tolist()


def test_foreign_programs_sit_at_rings(tmp_path):
    foreign = play_ring([program(tmp_path, CALLER), "random", "always_fold"], 5, 3)
    ours = play_ring(["always_call", "random", "always_fold"], 5, 3)
    assert foreign.deal_chips.tolist() == ours.deal_chips.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CALLER.replace("2.0.0", "1.0.0"), "expected 'VERSION:2.0.0'"),
        (CALLER.replace('b":c', 'b":x'), r"expected c or r at 'MATCHSTATE.*got 'x' at MATCHSTATE"),
        (CALLER.replace("try:", "raise SystemExit('no more')\ntry:"), "it said: no more"),
        ("raise SystemExit('cannot start')", r"to connect, it did not \(it said: cannot start\)"),
        ("", "to connect, it did not"),
    ],
    ids=["version", "illegal", "leaves", "fails at the start", "ends at once"],
)
def test_a_program_that_breaks_the_protocol_fails_the_match_and_is_gone(text, message, tmp_path, started):
    with pytest.raises(ArenaError, match=message):
        play_match(program(tmp_path, text), "random", 5, 5)
    gc.collect()
    assert [process.poll() is not None for process in started] == [True]


def test_a_program_that_says_nothing_fails_in_time(tmp_path, started):
    path = tmp_path / "silent.py"
    path.write_text(CALLER.replace('b":c', 'b"'))
    bot = ForeignBot(f"{sys.executable} {path}", answer_limit_s=0.5)
    with pytest.raises(ArenaError, match=r"expected a line from .* within 0"):
        play_match(lambda: bot, "random", 5, 5, duplicate=False)


def test_a_program_that_does_not_leave_is_ended(tmp_path, started, monkeypatch):
    monkeypatch.setattr("hardbot.live.foreign.END_LIMIT_S", 0.2)
    text = CALLER.replace("import socket, sys", "import socket, sys, signal, time; signal.signal(15, signal.SIG_IGN)")
    play_match("random", program(tmp_path, text + "\ntime.sleep(60)\n"), 3, 5, duplicate=False)
    gc.collect()
    assert [process.poll() for process in started] == [-9]


@pytest.mark.parametrize(
    ("spec", "message"),
    [("tcp:", "expected a command as tcp:COMMAND"), ("tcp:a 'b", "unbalanced quotes")],
)
def test_bad_commands_are_refused(spec, message):
    with pytest.raises(BotError, match=message):
        create_bot(spec)


def test_a_program_that_does_not_exist_fails_the_match(tmp_path):
    with pytest.raises(ArenaError, match="expected a program 'no/such/program'"):
        play_match("tcp:no/such/program", "random", 5, 5)
