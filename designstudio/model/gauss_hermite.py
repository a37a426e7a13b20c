"""Gauss nodes for expectations over a standard normal, whole and by halves."""

import functools

import numpy as np


@functools.cache
def gauss_hermite(num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and probabilities for the expectation over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(num_nodes)
    return nodes, weights / np.sqrt(2 * np.pi)


@functools.cache
def half_gauss_hermite(num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss nodes and weights for the integral of exp(-x²/2) f(x) from 0 to infinity.

    From the recurrence of the orthogonal polynomials (Stieltjes' procedure on a fine grid) and its matrix's eigenvalues.
    """
    grid, mass = np.polynomial.legendre.leggauss(400)
    grid = 5 * (grid + 1)  # to 10, beyond which the weight is below 1e-21
    mass = 5 * mass * np.exp(-(grid**2) / 2)
    diagonal, squares = np.zeros(num_nodes), np.zeros(num_nodes)
    previous, current, last_norm = np.zeros_like(grid), np.ones_like(grid), 1.0
    for k in range(num_nodes):
        norm = np.sum(mass * current**2)
        diagonal[k] = np.sum(mass * grid * current**2) / norm
        squares[k] = norm / last_norm
        previous, current = current, (grid - diagonal[k]) * current - (squares[k] if k else 0.0) * previous
        last_norm = norm
    off_diagonal = np.sqrt(squares[1:])
    matrix = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return nodes, squares[0] * vectors[0] ** 2
