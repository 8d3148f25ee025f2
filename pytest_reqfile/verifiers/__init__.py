"""Verifiers of an ``.ai-rulez`` project: declarations, predicates, scope, evaluation, self-tests (seed 000)."""
