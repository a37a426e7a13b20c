"""From observed behaviour to posterior draws, for many data sets at once."""
