"""Figures that change with the choices of a visitor: the same few elements, whose data are replaced."""
