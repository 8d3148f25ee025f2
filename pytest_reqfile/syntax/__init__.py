"""YAML, TOML and JSON as nodes with lines; typed getters over them; globs; RE2 patterns (design 4)."""
