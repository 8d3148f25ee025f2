"""Everything that touches the outside world: git, files, processes, clock and environment (design 4)."""
