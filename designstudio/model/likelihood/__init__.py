"""From a participant to the likelihood of their responses."""
