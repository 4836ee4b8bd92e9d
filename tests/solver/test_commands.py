"""`hardbot solve` and `hardbot exploit` as a user calls them."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from hardbot.bots import sparbot
from hardbot.cli import app
from hardbot.errors import StrategyError
from hardbot.solver.strategy import save_strategy


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_solve_goes_on_where_it_stopped_and_the_result_plays(tmp_path):
    folder = str(tmp_path / "mine")
    arguments = ("solve", "--buckets", "0,0,6", "--minutes", "0.01", "--check", "8", "--out", folder, "--json")
    first = json.loads(run(*arguments).stdout)
    assert first["buckets"] == [169, 169, 169, 6]
    assert first["boards"] >= 50
    second = json.loads(run(*arguments).stdout)
    assert second["boards"] > first["boards"]
    assert second["curve"][-1]["boards"] == second["boards"]
    assert second["curve"][-1]["standard_error"] > 0
    match = json.loads(run("match", f"sparbot:strategy={folder}", "always_fold", "--pairs", "500", "--json").stdout)
    assert match["compiled"]
    assert match["sb_per_hand"] > 0.3


def test_exploit_prints_value_and_error(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_CACHE", str(tmp_path))
    document = json.loads(run("exploit", "always_fold", "--flops", "4", "--json").stdout)
    assert document["value"] == pytest.approx(0.75, abs=1e-6)
    assert document["n_flops"] == 4
    assert "best response, sb/hand" in run("exploit", "always_fold", "--flops", "4").stdout


def test_exploit_inside_answers_a_folder_and_a_bot_without_cards(mixed_strategy, tmp_path, monkeypatch):
    save_strategy(mixed_strategy, tmp_path)
    monkeypatch.setattr(sparbot, "default_folder", lambda: tmp_path)
    document = json.loads(run("exploit", str(tmp_path), "--inside", "8", "--seed", "3", "--json").stdout)
    assert document["value"] > 2.0
    assert document["standard_error"] > 0
    assert (document["n_boards"], document["n_paid"], document["seed"]) == (8, 2, 3)
    document = json.loads(run("exploit", "always_fold", "--inside", "8", "--json").stdout)
    assert document["value"] == pytest.approx(0.75, abs=1e-4)
    assert "learned response, sb/hand" in run("exploit", "always_fold", "--inside", "8").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("exploit", "rulebot"), "expected a bot that is a table"),
        (("exploit", "rulebot", "--inside", "8"), "expected a strategy over buckets or a bot that ignores its cards"),
        (("exploit", "rulebot", "--exact"), "expected a bot that ignores its cards"),
        (("solve", "--buckets", "some", "--out", "nowhere"), "expected one number of buckets or three"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(arguments, message):
    with pytest.raises(StrategyError, match=message):
        run(*arguments)
