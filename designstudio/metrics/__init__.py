"""What a fit is worth: numbers that compare posterior draws with the truth that made the data."""
