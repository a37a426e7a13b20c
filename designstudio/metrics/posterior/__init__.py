"""Metrics of the shape of a posterior: what can be told apart, and how much was learnt? One a file.

Shapes are those of the logarithms of the parameters, in which the trade-offs of the model (one parameter up by a factor,
another down by its power) are straight. Of every posterior only the covariance enters, so all fidelities have the same
metrics.
"""
