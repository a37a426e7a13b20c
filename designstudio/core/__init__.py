"""What every room stands on: settings of JAX, whole files, fingerprints, caches, progress, versions."""
