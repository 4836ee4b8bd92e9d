"""Play outside the arena: competition protocol, terminal and web tables."""
