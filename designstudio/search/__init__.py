"""Let Optuna search the designs: the only place that knows Optuna."""
