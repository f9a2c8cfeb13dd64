"""Everything that talks to a Kubernetes API server: messages, transports, client, informer, configuration."""
