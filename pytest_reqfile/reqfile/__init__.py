"""Reqfile.yaml: format, cascade, settings, command and decision checks, examples, imports (seed 004)."""
