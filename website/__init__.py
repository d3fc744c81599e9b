"""The documentation as a website."""
