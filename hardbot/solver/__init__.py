"""Solving the heads-up game: counterfactual regret minimisation, best responses, exploitability."""
