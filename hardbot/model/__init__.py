"""Betting contexts, the trained artifact, range posterior and opponent adjustment."""
