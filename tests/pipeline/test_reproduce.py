"""Reproduced experiments: what is measured is what the arena says, what is published is quoted right."""

from __future__ import annotations

import json
import math
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from hardbot.arena.experiments import loki_experiment
from hardbot.arena.ring import play_ring
from hardbot.arena.sessions import play_session
from hardbot.cli import app
from hardbot.errors import BotError
from hardbot.model.artifact import default_model_path
from pipeline.reproduce import EXPERIMENTS, casey, hardbot, loki, run_experiment, soarbot
from pipeline.reproduce.matches import contrast, match_row, mean_of, play_table, random_names
from pipeline.reproduce.report import Reproduction, Row, Settings, draw_rows, write_report


def test_row_shows_interval_and_published_value():
    row = Row("table", "who", 0.0312, 0.0191, 0.031, 0.019, hands=25_000)
    assert row.cells() == ["table", "who", "+0.031 ± 0.019", "+0.031 ± 0.019", "sb/hand", "25,000"]
    assert Row("t", "w", -0.5, math.nan).cells()[2:4] == ["-0.500", "none"]
    assert Row("t", "w", 37.25, 0.3, 37.0, unit="%").cells()[2:4] == ["37.2 ± 0.3", "37.0"]
    assert Row("t", "w", 0.1, 0.2, "behind").cells()[3] == "behind"
    assert Row("t", "w", 0.1, math.nan).to_json()["ci95"] is None


def test_names_at_the_table_say_nothing():
    names = random_names(10, 1)
    assert len(set(names)) == 10
    assert names != random_names(10, 2)
    assert not any("loki" in name for name in names)


def test_match_row_is_the_match():
    row = match_row("always_raise", "always_fold", 40, Settings(), block=10)
    assert (row.group, row.what, row.measured, row.ci95, row.hands) == (
        "always_raise",
        "against always_fold",
        0.75,
        0.0,
        80,
    )


def test_mean_of_one_player_is_the_rings_own():
    specs = ["rulebot", "random", "always_call"]
    result = play_ring(specs, 60, 4, block=20)
    for entrant in range(3):
        found = mean_of(result, [entrant])
        assert found.mean == pytest.approx(result.sb_per_hand[entrant])
        assert found.half_width == pytest.approx(result.ci95[entrant])
    assert mean_of(result, [0, 1, 2]).mean == pytest.approx(0.0)
    gap = contrast(result, [1.0, -1.0, 0.0])
    assert gap.mean == pytest.approx(result.sb_per_hand[0] - result.sb_per_hand[1])
    assert gap.half_width > result.ci95[0]


def test_interval_is_over_blocks_where_a_bot_learns():
    result = play_table(["casey", "random", "always_call"], 30, Settings(), block=10)
    assert result.interval == "blocks"
    found = mean_of(result, [0])
    assert (found.n_units, found.half_width) == (3, pytest.approx(result.ci95[0]))


def test_published_values_are_those_of_the_documents():
    assert soarbot.published_bot_only() == pytest.approx(-0.102, abs=5e-4)
    assert hardbot.OPPONENTS["poki"] == "narrowly ahead"
    assert casey.PLAYED == {4: 37.0, 6: 37.0, 8: 31.0}


def test_loki_rows_are_the_tournaments(monkeypatch):
    monkeypatch.setattr(loki, "QUICK_DEALS", {"generic": 10})
    monkeypatch.setattr(loki, "WHAT", {"generic": "generic modelling"})
    (row,) = run_experiment("loki", Settings(seed=2, quick=True)).rows
    wanted = loki_experiment(10, 2, enhancements=["generic"])[0]
    assert (row.measured, row.ci95, row.hands) == (wanted.sb_per_hand, wanted.ci95, 100)
    assert (row.published, row.published_ci95) == (0.031, 0.019)


def test_gauntlet_is_played_again_by_a_hero_that_knows_nothing_of_the_opponent(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_DATA", str(tmp_path))
    shutil.copytree(default_model_path(), tmp_path / "models" / "unseen-rulebot")
    monkeypatch.setattr(hardbot, "HERO", "hardbot:chooser=expert")
    monkeypatch.setattr(hardbot, "OPPONENTS", {"rulebot": "ahead", "random": "behind"})
    monkeypatch.setattr(hardbot, "QUICK_PAIRS", 6)
    monkeypatch.setattr(hardbot, "QUICK_BLOCK", 3)
    result = run_experiment("hardbot", Settings(quick=True))
    assert [(row.group, row.what, row.hands) for row in result.rows] == [
        ("hardbot:chooser=expert", "against rulebot", 12),
        ("hardbot:chooser=expert, opponent unseen", "against rulebot", 12),
        ("hardbot:chooser=expert", "against random", 12),
    ]
    assert result.rows[0].measured == result.rows[1].measured  # the same model under another name
    assert result.notes[-1].startswith("No model without the hands of random was found")


def test_portfolio_drops_its_answers_to_an_unseen_opponent(monkeypatch):
    played: list[tuple[str, str]] = []

    def record(hero, opponent, n_pairs, settings, **_):
        played.append((hero, opponent))
        return Row(hero, opponent, 0.0, 0.1)

    monkeypatch.setattr(hardbot, "match_row", record)
    monkeypatch.setattr(hardbot, "HERO", "hardbot:chooser=portfolio")
    monkeypatch.setattr(hardbot, "OPPONENTS", {"random": "ahead"})
    hardbot.run(Settings(quick=True))
    assert played == [
        ("hardbot:chooser=portfolio", "random"),
        ("hardbot:chooser=portfolio,unseen=random", "random"),
    ]


def test_casey_learner_is_summed_up_by_phase():
    sessions = [play_session(["casey:min_cases=5", "rulebot", "rulebot", "rulebot"], 250, seed) for seed in (1, 2)]
    learner = casey.Learner(4, sessions)
    assert [learner.phase(p) for p in (0, 4)] == [slice(0, 50), slice(200, 250)]
    means = [session.sb[50:100, 0].mean() for session in sessions]
    assert learner.estimate(learner.phase(1)).mean == pytest.approx(np.mean(means))
    novelty = learner.novelty()
    assert novelty[0] > novelty[4]
    assert novelty[0] > 0.8


def test_command_writes_figure_table_and_json(tmp_path, monkeypatch):
    monkeypatch.setattr(casey, "QUICK_HANDS", 300)
    monkeypatch.setattr(casey, "TABLES", (4, 8))
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["reproduce", "casey", "--quick", "--seed", "3", "--out", str(out), "--json"])
    assert done.exit_code == 0
    document = json.loads(done.output)
    files = document.pop("files")
    assert files == {kind: str(out / f"casey.{kind}") for kind in ("png", "svg", "md", "json")}
    assert document == json.loads((out / "casey.json").read_text())
    assert (out / "casey.png").stat().st_size > 10_000
    assert (out / "casey.svg").read_text().startswith("<?xml")
    assert "hardbot reproduce casey --quick --seed 3" in (out / "casey.md").read_text()
    rows = {(row["group"], row["what"]): row for row in document["rows"]}
    assert rows["8 players", "hands played, button"]["published"] == 35.0
    assert rows["8 players", "hands played, first to act"]["published"] == 13.0
    assert rows["4 players", "phase 1: result"]["hands"] == 60
    assert 0 < rows["4 players", "raised blinds defended by rulebots"]["measured"] < 100


def test_figure_of_rows_has_a_line_for_each(tmp_path):
    rows = [Row("a", "b", 0.1, 0.05, 0.2, 0.1), Row("a", "c", -0.1, math.nan, "behind")]
    result = Reproduction("x", "X", rows, [], 1.0, lambda figure: draw_rows(figure, rows, "X"))
    write_report(result, Settings(), tmp_path)
    svg = (tmp_path / "x.svg").read_text()
    assert "<!-- a: b -->" in svg
    assert "<!-- a: c -->" in svg


def test_unknown_experiment_is_refused():
    with pytest.raises(BotError, match="expected an experiment of hardbot, loki, casey"):
        run_experiment("deep", Settings())
    assert set(EXPERIMENTS) == {"hardbot", "loki", "casey", "soarbot", "pokabayes"}


def test_commands_carry_cases_about(tmp_path):
    runner = CliRunner()
    memory, folder, again = (str(tmp_path / name) for name in ("casey.npz", "cases", "again.npz"))
    learnt = runner.invoke(app, ["casey", "learn", "random", "--hands", "40", "--out", memory, "--json"])
    assert learnt.exit_code == 0
    assert json.loads(learnt.output)["cases"] > 40
    assert runner.invoke(app, ["casey", "export", memory, folder]).exit_code == 0
    taken = runner.invoke(app, ["casey", "import", folder, again, "--json"])
    assert json.loads(taken.output)["cases"] == json.loads(learnt.output)["cases"]
