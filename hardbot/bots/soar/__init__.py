"""The rule player's parts: rule language, engine, hand analysis, rules by stage, history, logs."""
