"""The command line as a newcomer meets it: help everywhere, one line for every mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from hardbot import cli
from hardbot.bots.registry import BOTS


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
        (("features", "--loud"), "No such option"),
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


@pytest.mark.skipif("hardbot match" not in COMMANDS, reason="no matches yet")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody", "always_call"), "expected a bot of"),
        (("always_call:x=1", "random"), "expected an option of always_call"),
        (("always_call", "random", "--pairs", "many"), "--pairs many"),
        (("always_call", "random", "--pairs", "0"), "expected at least 1 pair, got 0"),
    ],
    ids=["unknown bot", "unknown option", "no number", "no pairs"],
)
def test_impossible_match_is_one_line_and_exit_code_2(arguments, message, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "match", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


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
