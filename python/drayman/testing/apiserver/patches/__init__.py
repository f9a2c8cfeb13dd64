"""The four kinds of patch: JSON patch, JSON merge patch, strategic merge patch, and server-side apply."""
