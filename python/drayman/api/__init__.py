"""Kubernetes objects as dicts: field names, defaults and validation of the API, shared by the fake API server, the command line and lint."""
