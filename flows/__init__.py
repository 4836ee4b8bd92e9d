"""Prefect flows over the steps of the pipeline."""
