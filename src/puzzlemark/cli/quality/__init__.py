"""Measure how well a model completes held-out code, and compare a marked model with a bare one."""
