"""From configured profiles to runtimes with their plugins."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from drayman.errors import InputError
from drayman.framework import Handle, Plugin, PluginClass, QueueSortPlugin
from drayman.framework.registry import by_name, installed
from drayman.framework.runtime import Runtime
from drayman.plugins import BUILT_IN, WEIGHTS
from drayman.scheduler.configuration import OWN, Configuration, Profile

log = logging.getLogger(__name__)

NOT_BUILT = frozenset(
    {
        "GangScheduling",
        "ImageLocality",
        "NodeDeclaredFeatures",
        "NodeResourcesBalancedAllocation",
        "NodeVolumeLimits",
        "PodTopologySpread",
        "VolumeBinding",
        "VolumeRestrictions",
        "VolumeZone",
    }
)
"""Plugins of upstream's default profile that this scheduler does not have; files may disable or configure them."""


def build(configuration: Configuration, handle: Handle, plugins: Iterable[PluginClass]) -> Mapping[str, Runtime]:
    """Return a runtime for each profile, by scheduler name.

    `plugins` run after the built-in ones in all profiles; one with the name of a built-in plugin takes its place.
    Raises :class:`~drayman.errors.InputError` for unknown plugins and wrong arguments.
    """
    given = tuple(plugins)
    available = by_name(BUILT_IN, installed(), given)
    return {profile.scheduler_name: _runtime(profile, handle, available, given) for profile in configuration.profiles}


def _runtime(
    profile: Profile, handle: Handle, available: Mapping[str, PluginClass], given: tuple[PluginClass, ...]
) -> Runtime:
    _check_names(profile, available)
    everything = (*(plugin.name for plugin in BUILT_IN), *profile.enabled, *(plugin.name for plugin in given))
    disabled = profile.disabled | ({plugin.name for plugin in BUILT_IN} if "*" in profile.disabled else set())
    names = [name for name in dict.fromkeys(everything) if name not in disabled or name in profile.enabled]
    made = [_make(available[name], profile, handle) for name in names]
    sorters = [plugin.name for plugin in made if isinstance(plugin, QueueSortPlugin)]
    if len(sorters) != 1:
        raise InputError(f"profile {profile.scheduler_name} needs one queue sort plugin, it has {sorters}")
    return Runtime(profile.scheduler_name, made, handle.clock, weights={**WEIGHTS, **profile.weights})


def _make(plugin: PluginClass, profile: Profile, handle: Handle) -> Plugin:
    try:
        return plugin(profile.arguments.get(plugin.name, {}), handle)
    except InputError as error:
        where = f"pluginConfig[{plugin.name}].args"
        raise InputError(error.message, field=f"{where}.{error.field}" if error.field else where) from error


def _check_names(profile: Profile, available: Mapping[str, PluginClass]) -> None:
    for name in profile.enabled:
        if name not in available:
            raise InputError(f'plugin "{name}" does not exist', field="plugins.multiPoint.enabled")
    for name in (*profile.disabled, *profile.arguments, *profile.weights):
        if name in NOT_BUILT:
            log.info("plugin %s is not part of this scheduler; what is configured for it is ignored", name)
        elif name not in available and name not in ("*", OWN):
            raise InputError(f'plugin "{name}" does not exist', field="profiles")


def served_by(configuration: Configuration, scheduler_name: str) -> str | None:
    """Return the profile that serves pods with `scheduler_name`; None when they are not ours."""
    names = [profile.scheduler_name for profile in configuration.profiles]
    if scheduler_name in names:
        return scheduler_name
    return names[0] if configuration.serve_all else None
