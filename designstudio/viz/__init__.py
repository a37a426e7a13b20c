"""Figures: compute what to draw, then draw it."""
