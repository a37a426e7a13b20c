"""Real participants: all subjects under all chosen costs, compared, pooled, and turned into the plan of the next experiment."""
