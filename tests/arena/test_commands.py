"""`hardbot match` and `hardbot ring` as a user calls them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from hardbot.cli import app


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_match_prints_the_documented_json():
    result = run("match", "always_raise", "always_fold", "--pairs", "50", "--seed", "3", "--json")
    document = json.loads(result.stdout)
    keys = ["bots", "hands", "pairs", "sb_per_hand", "ci95", "sd_pair", "seconds", "hands_per_second"]
    assert list(document)[: len(keys)] == keys
    assert document["bots"] == ["always_raise", "always_fold"]
    assert (document["hands"], document["pairs"], document["sb_per_hand"], document["ci95"]) == (100, 50, 0.75, 0.0)


def test_single_and_window_reach_the_match():
    document = json.loads(
        run(
            "match",
            "random",
            "always_call",
            "--pairs",
            "40",
            "--block",
            "20",
            "--single",
            "--window",
            "11-20",
            "--json",
        ).stdout
    )
    assert (document["hands"], document["pairs"], document["duplicate"]) == (20, 20, False)
    assert document["window"] == [10, 20]


def test_ring_prints_lists_by_bot():
    document = json.loads(run("ring", "always_fold", "always_raise", "always_fold", "--deals", "20", "--json").stdout)
    assert document["bots"] == ["always_fold", "always_raise", "always_fold"]
    assert document["sb_per_hand"] == [-0.5, 1.0, -0.5]
    assert (document["hands"], document["deals"]) == (60, 20)


def test_tables_for_people_show_the_interval():
    assert "+0.7500 ± 0.0000" in run("match", "always_raise", "always_fold", "--pairs", "50").stdout
    assert "no interval" in run("match", "always_raise", "always_fold", "--pairs", "1").stdout
    assert "+1.0000 ± 0.0000" in run("ring", "always_fold", "always_raise", "always_fold", "--deals", "5").stdout


@pytest.mark.parametrize("command", ["match", "ring"])
def test_commands_have_help_with_an_example(command):
    text = run(command, "--help").stdout
    assert "Example: hardbot" in text
    assert "--seed" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["match", "random", "random", "--pairs", "0"], "expected at least 1 pair, got 0"),
        (["match", "random", "nobody"], "got 'nobody'"),
        (["match", "random", "random", "--log", "no/such/folder/m.log"], "expected a writable log file"),
        (["ring", "random", "random", "--log", "no/such/folder/m.log"], "expected a writable log file"),
        (["match", "random", "random", "--window", "9-3"], "expected a window of hands such as 5001-10000, got '9-3'"),
        (["ring", "random", "--deals", "3"], "expected 2 to 10 seats, got 1"),
    ],
    ids=["no pairs", "unknown bot", "unwritable log", "unwritable log of a ring", "window", "one bot"],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "hardbot.cli", *arguments], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []
