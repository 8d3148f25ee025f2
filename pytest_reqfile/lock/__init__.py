"""The lock: digests, pins, the lock file, comparison, subject (seed 001; spec/lock.md)."""
