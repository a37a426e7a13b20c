"""Figures that follow a slider: Bokeh's own, because only their data are replaced, which takes milliseconds."""
