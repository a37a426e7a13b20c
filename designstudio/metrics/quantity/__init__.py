"""Metrics of one parameter or quantity: are estimates close to the truth, and intervals honest? One a file."""
