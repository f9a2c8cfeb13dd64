"""Deployments: one ReplicaSet a template version, exchanged step by step (upstream: `pkg/controller/deployment`)."""

from drayman.testing.controllers.deployment.controller import DeploymentController

__all__ = ["DeploymentController"]
