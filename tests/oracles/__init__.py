"""Slow, independent solutions that the fast paths are checked against."""
