"""A very small shop."""
