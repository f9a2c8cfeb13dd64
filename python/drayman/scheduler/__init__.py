"""The secondary scheduler: configuration, wiring, scheduling and binding cycles."""
