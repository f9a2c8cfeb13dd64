"""The built-in plugins, each in a module named after it."""
