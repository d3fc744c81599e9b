"""The outer loops of Algorithm 1, the manifest, apply and revert."""
