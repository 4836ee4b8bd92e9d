"""Players: one bot a file, listed in the registry."""
