from __future__ import annotations

import numpy as np
import pytest

from hardbot.bots import registry
from hardbot.bots.base import Bot
from hardbot.bots.registry import BOTS, Entry, bot_class, check_table_size, create_bot, split_spec
from hardbot.bots.simple import AlwaysCall
from hardbot.errors import BotError
from hardbot.game.hand import View
from hardbot.game.rules import CALL


class Tuned(Bot):
    """A bot with an option of every kind."""

    name = "tuned"
    table_sizes = range(3, 7)

    def __init__(self, *, trials: int = 5, noise: float = 0.5, bold: bool = False, style: str = "plain") -> None:
        self.options = (trials, noise, bold, style)

    def act(self, view: View, rng: np.random.Generator) -> int:
        return CALL


class Demanding(Bot):
    """A bot that cannot be made without an option."""

    name = "demanding"

    def __init__(self, target: str) -> None:
        self.target = target

    def act(self, view: View, rng: np.random.Generator) -> int:
        return CALL


@pytest.fixture
def more_bots(monkeypatch):
    monkeypatch.setitem(BOTS, "tuned", Entry("tuned:Tuned", "a test"))
    monkeypatch.setitem(BOTS, "demanding", Entry("demanding:Demanding", "a test"))
    found = {"tuned": Tuned, "demanding": Demanding}
    real = registry.bot_class
    monkeypatch.setattr(registry, "bot_class", lambda name: found.get(name) or real(name))


@pytest.mark.parametrize("name", sorted(BOTS))
def test_registered_bot_is_a_bot_of_that_name(name):
    cls = bot_class(name)
    assert issubclass(cls, Bot)
    assert cls.name == name
    assert 2 <= cls.table_sizes.start < cls.table_sizes.stop <= 11
    assert BOTS[name].summary


def test_first_bots_are_there():
    assert {"always_call", "always_raise", "always_fold", "random", "rulebot"} <= set(BOTS)
    assert isinstance(create_bot("always_call"), AlwaysCall)
    assert create_bot("random") is not create_bot("random")


def test_spec_is_a_name_and_options():
    assert split_spec("loki") == ("loki", {})
    assert split_spec("loki:simulate=no,trials=100") == ("loki", {"simulate": "no", "trials": "100"})
    assert split_spec("x:path=a=b") == ("x", {"path": "a=b"})


def test_options_take_the_type_of_their_annotation(more_bots):
    assert create_bot("tuned").options == (5, 0.5, False, "plain")
    assert create_bot("tuned:trials=7,noise=1e-3,bold=yes,style=wild").options == (7, 0.001, True, "wild")
    assert create_bot("tuned:bold=0").options == (5, 0.5, False, "plain")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nobody", r"expected a bot of .*always_call.*, got 'nobody'"),
        ("", "expected a bot of .*, got ''"),
        ("always_call:x=1", r"expected an option of always_call \(none\), got 'x'"),
        ("tuned:speed=1", r"expected an option of tuned \(trials, noise, bold, style\), got 'speed'"),
        ("tuned:trials", "expected options as key=value in bot 'tuned:trials', got 'trials'"),
        ("tuned:=3", "expected options as key=value"),
        ("tuned:trials=1,trials=2", "expected each option once in bot .*, got 'trials' twice"),
        ("tuned:trials=many", "expected .*int.* for trials of tuned, got 'many'"),
        ("tuned:noise=loud", "expected .*float.* for noise of tuned, got 'loud'"),
        ("tuned:bold=perhaps", "expected .*bool.* for bold of tuned, got 'perhaps'"),
        ("demanding", "expected options target of demanding"),
    ],
)
def test_bad_spec_is_refused_with_what_was_expected(more_bots, spec, message):
    with pytest.raises(BotError, match=message):
        create_bot(spec)


def test_bot_sits_only_at_tables_of_its_sizes(more_bots):
    check_table_size("always_call", 10)
    check_table_size("tuned:trials=3", 6)
    for n_seats in (2, 7):
        with pytest.raises(BotError, match=f"expected 3 to 6 seats for tuned, got {n_seats}"):
            check_table_size("tuned", n_seats)
