"""Cards, evaluator, features, rules and notation: the game itself, no opinion about play."""
