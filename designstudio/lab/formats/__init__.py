"""Schedules as files for the programs that run experiments, and for those that read their data."""
