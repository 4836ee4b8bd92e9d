"""Every error this project raises on purpose.

HardBotError
    CardError             a card or a set of cards that cannot be
    RulesError            a table that cannot be set up
        IllegalAction     an action the rules do not allow here
    NotationError         text that is not a match state, log line or history
    BotError              a bot that does not exist or cannot sit at this table
    ArenaError            a match that cannot be run
    TableError            a feature table that is missing or damaged
    ModelError            a trained model that is missing, damaged or of another schema
    StrategyError         a solved strategy that is missing, damaged or does not fit
    SourceError           a hand-history file that cannot be read as a whole
    StoreError            the DuckDB file: locked, of another schema, full
    ProtocolError         a peer that breaks the competition protocol
        PeerGone          a peer that hung up
        PeerLate          a peer that did not answer in time
    SessionError          a live table that cannot do what is asked: out of turn, stale, over

A message says what was expected, what came, and where. The command line turns each of
these into one line on stderr and exit code 2.
"""

from __future__ import annotations


class HardBotError(Exception):
    """Root of all errors raised on purpose."""


class CardError(HardBotError, ValueError):
    """A card or a set of cards that cannot be."""


class RulesError(HardBotError, ValueError):
    """A table that cannot be set up."""


class IllegalAction(RulesError):
    """An action the rules do not allow here."""


class NotationError(HardBotError, ValueError):
    """Text that is not a match state, log line or history."""


class BotError(HardBotError):
    """A bot that does not exist or cannot sit at this table."""


class ArenaError(HardBotError):
    """A match that cannot be run."""


class TableError(HardBotError):
    """A feature table that is missing or damaged."""


class ModelError(HardBotError):
    """A trained model that is missing, damaged or of another schema."""


class StrategyError(HardBotError):
    """A solved strategy that is missing, damaged or does not fit."""


class SourceError(HardBotError):
    """A hand-history file that cannot be read as a whole."""


class StoreError(HardBotError):
    """The DuckDB file: locked, of another schema, full."""


class ProtocolError(HardBotError):
    """A peer that breaks the competition protocol."""


class PeerGone(ProtocolError):
    """A peer that hung up."""


class PeerLate(ProtocolError):
    """A peer that did not answer in time."""


class SessionError(HardBotError):
    """A live table that cannot do what is asked: out of turn, stale, over."""
