"""Dynamic Resource Allocation in the scheduler."""

from drayman.plugins.dynamic_resources.plugin import DynamicResources

__all__ = ["DynamicResources"]
