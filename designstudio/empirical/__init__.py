"""Real participants: all subjects under all chosen costs, compared, pooled, and what to do in the next experiment."""
