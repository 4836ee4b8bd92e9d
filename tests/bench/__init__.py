"""Benchmarks against the libraries named in the documentation: `python -m tests.bench [name...]`."""
