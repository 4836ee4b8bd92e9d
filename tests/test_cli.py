"""The command line as a newcomer meets it: help everywhere, one line for every mistake."""

from __future__ import annotations

import json
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from hardbot import cli
from hardbot.bots.base import Bot
from hardbot.bots.registry import BOTS, Entry
from hardbot.game.notation import parse_match_state
from hardbot.game.rules import FOLD, HEADS_UP


def commands(group: Any = None, path: str = "hardbot") -> Iterator[tuple[str, Any]]:
    """Every command, groups walked through."""
    for name, command in (group or typer.main.get_command(cli.app)).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMANDS = dict(commands())
every_command = pytest.mark.parametrize("path", sorted(COMMANDS))


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["hardbot", *arguments])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out, err = capsys.readouterr()
    return int(stopped.value.code or 0), out, err


@every_command
def test_command_has_help_and_an_example(path):
    command = COMMANDS[path]
    assert command.help
    assert command.epilog
    assert f"Example: {path}" in command.epilog


@every_command
def test_example_has_arguments_the_command_takes(path):
    example = COMMANDS[path].epilog.removeprefix(f"Example: {path}")
    context = COMMANDS[path].make_context(path, shlex.split(example))
    assert set(context.params) == {parameter.name for parameter in COMMANDS[path].params} - {"help"}


def test_match_state_of_the_example_is_one_where_the_player_is_to_act():
    state = parse_match_state(shlex.split(COMMANDS["hardbot explain"].epilog)[3], HEADS_UP)
    assert state.betting.seat == state.seat


@every_command
def test_every_parameter_is_explained(path):
    unexplained = [p.name for p in COMMANDS[path].params if p.name != "help" and not getattr(p, "help", None)]
    assert unexplained == []


@every_command
def test_help_page_opens(path, monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, *path.split()[1:], "--help")
    assert code == 0
    assert "Usage: " in out


def test_bare_command_shows_the_help_page(monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys)
    assert code == 2
    assert "Usage: hardbot" in out + err


def test_bots_lists_every_bot(monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "bots", "--json")
    assert (code, err) == (0, "")
    rows = json.loads(out)
    assert [row["name"] for row in rows] == sorted(BOTS)
    assert {row["name"]: row["seats"] for row in rows}["rulebot"] == [2, 10]
    assert all(row["summary"] for row in rows)


def test_features_prints_the_published_counts(monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "features", "AdQc", "Jh4c3h", "--json")
    assert (code, err) == (0, "")
    row = json.loads(out)
    wanted = {"hole", "board", "ahead", "tied", "behind", "hs", "e", "e2", "ppot", "npot", "ppot1", "npot1", "hp"}
    assert set(row) == wanted
    assert (row["hole"], row["board"]) == ("AdQc", "Jh4c3h")
    assert (row["ahead"], row["tied"], row["behind"]) == (628, 9, 444)
    assert row["hp"] == [[449005, 3211, 169504], [0, 8370, 540], [91981, 1036, 346543]]


def test_features_prints_a_table_for_people(monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "features", "AdQc", "Jh4c3h")
    assert code == 0
    assert "449,005" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("features", "AxQc", "Jh4c3h"),
            "expected a card such as 'Ah' (rank of 23456789TJQKA, suit of cdhs), got 'Ax'",
        ),
        (("features", "AdAd", "Jh4c3h"), "got Ad twice"),
        (("features", "AdQc", "Jh4cJh"), "got Jh twice"),
        (("features", "AdQc", "AdJh4c"), "got Ad twice"),
        (("features", "AdQcJh", "9h4c3h"), "expected two hole cards, got 3"),
        (("features", "AdQc", "Jh4c"), "expected a board of 3 or 4 or 5 cards, got 2"),
        (("features", "AdQc", "Jh4c3h2s2d2c"), "expected a board of 3 or 4 or 5 cards, got 6"),
        (("features", "AdQc", "Jh4c3"), "expected cards of two characters each"),
        (("features", "AdQc"), "Missing argument"),
        (("features", "A♥Qc", "Jh4c3h"), "got 'A♥'"),
        (("features", "", ""), "expected two hole cards, got 0"),
        (("features", "--loud"), "No such option"),
        (("explain", "MATCHSTATE:0"), "expected 'MATCHSTATE:seat:hand:betting:cards', got 'MATCHSTATE:0'"),
        (("explain", "MATCHSTATE:0:0:rrrr:AhKd|"), "expected 'f' or 'c', got 'r' in <heads-up 'rrr'>"),
        (("explain", "MATCHSTATE:0:0:r:AxKd|"), "got 'Ax'"),
        (("explain", "MATCHSTATE:0:0:cr:AhKd|"), "expected a match state where seat 0 is to act"),
        (("nothing",), "No such command 'nothing'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistake_is_one_line_and_exit_code_2(arguments, message, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("hardbot: ")
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody", "always_call"), "expected a bot of"),
        (("always_call:x=1", "random"), "expected an option of always_call"),
        (("loki:trials=few", "random"), "expected int for trials of loki, got 'few'"),
        (("always_call", "random", "--pairs", "many"), "--pairs many"),
        (("always_call", "random", "--pairs", "0"), "expected at least 1 pair, got 0"),
        (("always_call", "random", "--pairs", str(10**30)), "expected at most 1,000,000,000 deals"),
        (("always_call", "random", "--log", "/"), "expected a file to write the log to, got the directory /"),
        (("always_call", "random", "--log", ""), "expected a file to write the log to, got the directory ."),
    ],
    ids=[
        *("unknown bot", "unknown option", "no value", "no number", "no pairs", "too many pairs", "log is /"),
        "log without a name",
    ],
)
def test_impossible_match_is_one_line_and_exit_code_2(arguments, message, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "match", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


class FoldsForFree(Bot):
    """Breaks the rules: folds where checking is free."""

    name = "cheat"

    def act(self, view, rng):
        return FOLD


@pytest.mark.parametrize("command", [("match", "--pairs"), ("ring", "--deals")], ids=lambda command: command[0])
def test_illegal_action_of_a_bot_is_one_line_exit_code_2_and_no_log(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(BOTS, "cheat", Entry(f"{__name__}:FoldsForFree", "folds where checking is free"))
    log = tmp_path / "match.log"
    code, out, err = run(monkeypatch, capsys, command[0], "always_call", "cheat", command[1], "5", "--log", str(log))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "expected 1 (call) or 2 (raise) from cheat, got 0 at MATCHSTATE:" in err
    assert list(tmp_path.iterdir()) == []


def test_unforeseen_error_is_one_line_and_exit_code_1(monkeypatch, capsys):
    monkeypatch.delenv("HARDBOT_TRACEBACK", raising=False)
    monkeypatch.setattr(cli, "app", lambda **_: 1 // 0)
    code, _, err = run(monkeypatch, capsys, "bots")
    assert code == 1
    assert err.startswith("hardbot: unforeseen ZeroDivisionError")
    assert err.count("\n") == 1


def test_unforeseen_error_shows_its_trace_when_asked(monkeypatch):
    monkeypatch.setenv("HARDBOT_TRACEBACK", "1")
    monkeypatch.setattr(cli, "app", lambda **_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_installed_command_answers_without_a_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "hardbot.cli", "features", "AdQc", "Jh4"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "hardbot: expected cards of two characters each, got 'Jh4'\n"


def test_help_answers_within_half_a_second_of_processor_time():
    def seconds() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    spent = []
    for _ in range(3):
        before = seconds()
        subprocess.run([sys.executable, "-m", "hardbot.cli", "--help"], capture_output=True, check=True)
        spent.append(seconds() - before)
    assert min(spent) < 0.5


def test_help_imports_nothing_heavy():
    code = "import sys, hardbot.cli; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "polars", "duckdb", "prefect", "sklearn", "matplotlib"} & set(done.stdout.split())
