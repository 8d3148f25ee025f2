"""pytest-reqfile: what a repository requires, as pytest items and as the command ``reqfile``."""

__version__ = "0.1.0"
