"""Matches, duplicate deals, ring tournaments and their statistics."""
