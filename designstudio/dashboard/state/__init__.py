"""What a visitor has chosen, without any widget."""
