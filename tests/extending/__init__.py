"""What users add to the package from outside: each in one file, by registration alone."""
