"""The shipped test harness: a fake cluster in one process, and the same face on real ones."""
