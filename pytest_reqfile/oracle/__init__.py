"""The verification oracle: missions, their commands in isolation, receipts and claims (seed 003)."""
