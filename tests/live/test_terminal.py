"""The table in the terminal: plain lines through a pipe, a drawn table in a real terminal (tmux)."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from rich.console import Console

from hardbot.bots.simple import AlwaysCall
from hardbot.game.cards import HOLE_CLASS, N_HOLES, hole_class
from hardbot.game.notation import parse_log_hand
from hardbot.game.rules import CALL, HEADS_UP
from hardbot.live.beliefs import Beliefs, heat_map
from hardbot.live.session import TableSession
from hardbot.live.terminal import PlainScreen, RichScreen, heat_lines, heat_style, play_table


class Guesser(AlwaysCall):
    """Believes in aces, and says so."""

    name = "guesser"

    def explain(self):
        weights = np.where(HOLE_CLASS == 0, 1.0, 0.1)
        weights /= weights.sum()
        return Beliefs(weights, (("strong", 0.25),), {"hs": 0.512}, (0.1, 0.6, 0.3), "a guess")


class Tired(AlwaysCall):
    """Fails at its first decision."""

    name = "tired"

    def act(self, view, rng):
        raise RuntimeError("too tired")


def play(bots, answers, *, study=False, rich=False, **options):
    """Play with the answers of a list; what was written."""
    table = TableSession(bots, seed=3, **options)
    lines, left = io.StringIO(), list(answers)
    screen = RichScreen(Console(file=lines, width=130, force_terminal=True)) if rich else None
    screen = screen or PlainScreen(lambda text: lines.write(text + "\n"))
    finished = play_table(table, screen, lambda prompt: left.pop(0) if left else None, study=study)
    return table, finished, lines.getvalue()


def run(*arguments, answers, cwd, env=None):
    return subprocess.run(
        [sys.executable, "-m", "hardbot.cli", "play", *arguments],
        input=answers,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=os.environ | {"HARDBOT_DATA": str(cwd)} | (env or {}),
        timeout=60,
    )


def test_a_piped_game_is_plain_text_and_leaves_a_log(tmp_path):
    done = run("--bot", "always_call", "--hands", "3", "--seed", "3", answers="c\n" * 20, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "hand 1: you have Qh 3d, button always_call"
    assert lines[2] == "your turn with Qh 3d, pot 2, nothing to call (c, r)"
    assert lines[3] == "you check"
    assert sum(line.startswith("hand ") for line in lines) == 3
    assert lines[-1].startswith("after 3 hands: ")
    (log,) = (tmp_path / "play").iterdir()
    hands = [parse_log_hand(line, HEADS_UP) for line in log.read_text().splitlines()[1:]]
    assert [hand.betting.text for hand in hands] == ["cc/cc/cc/cc"] * 3
    total = sum(hand.net_chips[hand.players.index("you")] for hand in hands)
    assert f"after 3 hands: {total / 10:+g} sb" in lines[-1]


def test_the_final_score_can_be_had_as_json(tmp_path):
    done = run(
        "--bot", "always_fold", "--hands", "2", "--seed", "1", "--json", "--no-log", answers="r\nr\n", cwd=tmp_path
    )
    document = json.loads(done.stdout)
    assert (document["hands"], document["net_sb"], document["seed"], document["log"]) == (2, 1.5, 1, None)
    assert "hand 2: you have" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_end_of_input_leaves_the_table(tmp_path):
    done = run("--bot", "always_call", "--seed", "1", answers="c\n", cwd=tmp_path)
    assert done.returncode == 0
    assert "after" not in done.stdout  # a hand that is left is not scored
    assert list(tmp_path.iterdir()) == []


def test_bad_options_are_one_line(tmp_path):
    done = run("--bot", "nobody", answers="", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "got 'nobody'" in done.stderr


def test_wrong_answers_are_explained_and_asked_again():
    table, finished, text = play(["always_call"], ["f", "x", "", "help", "check", "q"])
    assert not finished
    assert "expected call or raise, got 'f'" in text
    assert "expected call or raise, got 'x'" in text
    assert text.count("f fold, c check or call") == 4
    assert "you check\n" in text
    assert table.records == []


def test_events_are_told_in_words():
    _, finished, text = play(["always_raise"], ["r", "r", "c", "b", "raise", "f"], n_hands=1)
    assert finished
    assert "always_raise raises, 1.5 in\nyour turn" in text
    assert "you raise, 2 in\n" in text
    assert "flop: 5c 2c Kd, pot 8\n" in text
    assert "you bet, 1 in\nalways_raise raises, 2 in\n" in text
    assert "you fold\n" in text
    assert "always_raise won; your result -7\n" in text
    assert "always_raise had" not in text


def test_study_shows_the_map_while_it_is_on_and_the_cards_after_the_hand():
    _, _, text = play([Guesser], ["s", "r", "r", "r", "r", "s", "r", "r", "r", "r", "r", "r", "r"], n_hands=2)
    assert (
        text.count("your range as guesser sees it:") == 4 + 1 + 1
    )  # hand 1 from "s" on, its end, the first turn of hand 2
    assert "hs 0.512" in text
    assert "decided fold 10%, call 60%, raise 30% by a guess" in text
    block = text.split("your range as guesser sees it:\n")[1].splitlines()[:14]
    assert block[0] == "   A  K  Q  J  T  9  8  7  6  5  4  3  2"
    assert block[1].startswith("A  9  1 ")
    assert sum(line.count("[") for line in block) == 1
    assert re.fullmatch(r"3  1  1 \[1\].*", block[12])  # Q3 offsuit: below the diagonal


def test_unshown_cards_are_told_only_while_studying():
    folded = ["c", "c", "r", "f"]
    for study, n_told in ((False, 0), (True, 1)):
        table, _, text = play([FoldsOnTheTurn], folded, study=study, n_hands=1)
        assert not table.records[0].result.betting.is_showdown
        assert text.count("(not shown)") == n_told


class FoldsOnTheTurn(Guesser):
    """Folds to a bet on the turn."""

    name = "folder"

    def act(self, view, rng):
        return 0 if view.street == 2 and view.betting.to_call else CALL


def test_a_bot_that_fails_does_not_end_the_evening():
    _, finished, text = play([Tired], [], n_hands=1)
    assert finished
    assert "the hand is void: expected a decision from tired, got RuntimeError: too tired" in text


def test_tables_of_many_play_without_a_map():
    table, finished, text = play(["random"] * 5, ["c"] * 40, study=True, n_hands=4)
    assert finished
    assert len(table.records) == 4
    assert "sees it" not in text


def test_the_drawn_table_has_colours_cards_and_the_map():
    _, _, text = play([Guesser], ["c", "c", "c", "c", ""], study=True, rich=True, n_hands=1)
    assert "\x1b[" in text
    assert "Q♥" in text
    bare = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
    assert "your range as guesser sees it" in bare
    assert "AKs" in bare
    assert "hardbot · hand 1" in bare
    assert "guesser had" in bare
    hidden = bare.split("guesser had")[0]
    shown = bare.split("guesser had ")[1][:5].split()
    assert "▒▒ ▒▒" in hidden
    assert not [card for card in shown if card in hidden]


def test_the_map_does_not_tell_the_bots_own_cards():
    weights = np.ones(N_HOLES)
    weights[HOLE_CLASS == 1] = 0.0
    weights[:40] = 0.0  # hands the bot holds cards of
    heat = heat_map(weights / weights.sum())
    assert heat[0, 1] == 0.0
    assert np.unique(heat).tolist() == [0.0, 1.0]


def test_an_empty_range_is_an_empty_map():
    assert heat_map(np.zeros(N_HOLES)).max() == 0.0


def test_a_snapshot_without_a_range_has_no_map():
    class Silent(Guesser):
        def explain(self):
            return Beliefs()

    table = TableSession([Silent], seed=3)
    table.start_hand()
    (snapshot,) = table.snapshots()
    assert heat_lines(snapshot, (51, 50)) == []
    assert hole_class(51, 47) == 1


def test_colours_go_from_dark_to_bright():
    levels = [heat_style(level) for level in (0.0, 0.3, 1.0)]
    assert levels[0] == "grey74 on #181c2c"
    assert levels[2] == "#000000 on #e86a20"
    assert len(set(levels)) == 3


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_person_at_a_real_terminal_plays_two_hands(tmp_path):
    server = ["tmux", "-L", f"hardbot-{os.getpid()}", "-f", "/dev/null"]
    command = f"{sys.executable} -m hardbot.cli play --bot always_call --hands 2 --seed 3 --log {tmp_path}; sleep 60"

    def tmux(*arguments):
        return subprocess.run([*server, *arguments], capture_output=True, text=True, check=True).stdout

    def wait_for(text):
        end = time.monotonic() + 150  # on a fresh machine kernels are compiled first
        while text not in (screen := tmux("capture-pane", "-p", "-t", "table")):
            assert time.monotonic() < end, screen
            time.sleep(0.05)
        return screen

    environment = os.environ | {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
    start = [*server, "new-session", "-d", "-s", "table", "-x", "130", "-y", "40", command]
    subprocess.run(start, check=True, env=environment)
    try:
        screen = wait_for("nothing to call (c, r):")
        assert "hardbot · hand 1" in screen
        assert "Q♥ 3♦" in screen
        tmux("send-keys", "-t", "table", "x", "Enter")
        wait_for("expected call or raise, got 'x'")
        for street in ("flop", "turn", "river"):
            tmux("send-keys", "-t", "table", "c", "Enter")
            wait_for(f"{street}  ")
        tmux("send-keys", "-t", "table", "c", "Enter")
        screen = wait_for("Enter for the next hand")
        assert "after 1 hand: " in screen
        tmux("send-keys", "-t", "table", "Enter")
        wait_for("hardbot · hand 2")
        tmux("send-keys", "-t", "table", "r", "Enter")
        wait_for("you raise, 1.5 in")
        tmux("send-keys", "-t", "table", "q", "Enter")
        time.sleep(0.1)
    finally:
        tmux("kill-server")
    (log,) = tmp_path.iterdir()
    assert [line.split(":")[2] for line in log.read_text().splitlines()[1:]] == ["cc/cc/cc/cc"]
