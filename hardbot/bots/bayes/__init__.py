"""The Bayesian player's parts: hand types, probability tables, opponent model, inference."""
