"""HardBot: limit Texas hold'em, opponent models learned from hand histories."""

__version__ = "0.1.0"
