"""Clusters that run beside their user: started, listed and ended by name. Each backend is a module."""
