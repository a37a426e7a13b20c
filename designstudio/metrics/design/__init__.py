"""Metrics of the design alone, known before anything is simulated. One a file."""
