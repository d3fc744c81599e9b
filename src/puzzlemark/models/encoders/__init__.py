"""Models seen from inside: code in, vectors out; for detectors, never for verification."""
