"""Kubernetes objects as dicts: field names, conversion, defaults, validation and refusals of the API.

Shared by the fake API server, the command line and lint. Pure functions: no I/O, inputs are never changed.
"""
