"""Real participants: all subjects under all costs, compared, pooled, and turned into the plan of the next experiment."""
