"""The scheduler framework: extension points, status codes, cycle state, queue and runtime. Knows no plugin and no API server."""
