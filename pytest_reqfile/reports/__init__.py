"""Outcomes → text, JSON, SARIF, JUnit, HTML and the run log. Everything here is pure: it returns text or bytes."""
