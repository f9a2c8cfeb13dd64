"""The columns of nodes, namespaces, events, services and the other plain kinds of the core group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.testing.apiserver.tables.column import AGE, NAME, Column, Object, at, count, labels, since, text

if TYPE_CHECKING:
    import datetime as dt

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"


def _node_status(node: Object, now: dt.datetime) -> str:
    ready = next((c.get("status") for c in at(node, "status.conditions", ()) if c.get("type") == "Ready"), None)
    states = ["Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"]
    if at(node, "spec.unschedulable"):
        states.append("SchedulingDisabled")
    return ",".join(states)


def _node_roles(node: Object, now: dt.datetime) -> str:
    node_labels = at(node, "metadata.labels", {})
    roles = {name.removeprefix(_ROLE_PREFIX) for name in node_labels if name.startswith(_ROLE_PREFIX)}
    roles.add(node_labels.get(_ROLE_LABEL, ""))
    return ",".join(sorted(roles - {""})) or "<none>"


def _node_address(node: Object, kind: str) -> str:
    addresses = at(node, "status.addresses", ())
    return next((str(address["address"]) for address in addresses if address.get("type") == kind), "<none>")


def _kernel(node: Object, now: dt.datetime) -> str:
    version = at(node, "status.nodeInfo.kernelVersion") or "<unknown>"
    architecture = at(node, "status.nodeInfo.architecture")
    return f"{version} ({architecture})" if architecture else version


NODES = (
    NAME,
    Column("Status", _node_status),
    Column("Roles", _node_roles),
    AGE,
    Column("Version", text("status.nodeInfo.kubeletVersion")),
    Column("Internal-IP", lambda node, now: _node_address(node, "InternalIP"), wide=True),
    Column("External-IP", lambda node, now: _node_address(node, "ExternalIP"), wide=True),
    Column("OS-Image", text("status.nodeInfo.osImage", "<unknown>"), wide=True),
    Column("Kernel-Version", _kernel, wide=True),
    Column("Container-Runtime", text("status.nodeInfo.containerRuntimeVersion", "<unknown>"), wide=True),
)

NAMESPACES = (NAME, Column("Status", text("status.phase")), AGE)


def _first_seen(event: Object, now: dt.datetime) -> str:
    return since(event.get("firstTimestamp") or event.get("eventTime"), now)


def _last_seen(event: Object, now: dt.datetime) -> str:
    observed = at(event, "series.lastObservedTime") or event.get("lastTimestamp")
    return since(observed, now) if observed else _first_seen(event, now)


def _event_count(event: Object, now: dt.datetime) -> int:
    return int(at(event, "series.count") or event.get("count") or 1)


def _event_object(event: Object, now: dt.datetime) -> str:
    kind, name = at(event, "involvedObject.kind", "").lower(), at(event, "involvedObject.name")
    return f"{kind}/{name}" if name else kind


def _event_source(event: Object, now: dt.datetime) -> str:
    component = at(event, "source.component") or event.get("reportingComponent") or ""
    instance = at(event, "source.host") or event.get("reportingInstance") or ""
    return f"{component}, {instance}" if instance else component


EVENTS = (
    Column("Last Seen", _last_seen),
    Column("Type", text("type")),
    Column("Reason", text("reason")),
    Column("Object", _event_object),
    Column("Subobject", text("involvedObject.fieldPath"), wide=True),
    Column("Source", _event_source, wide=True),
    Column("Message", lambda event, now: str(event.get("message") or "").strip()),
    Column("First Seen", _first_seen, wide=True),
    Column("Count", _event_count, wide=True),
    Column("Name", NAME.cell, wide=True, format="name"),
)


def _cluster_ip(service: Object, now: dt.datetime) -> str:
    addresses = at(service, "spec.clusterIPs", [])
    return str(addresses[0]) if addresses else "<none>"


def _external_ip(service: Object, now: dt.datetime) -> str:
    addresses = [str(address) for address in at(service, "spec.externalIPs", ())]
    match at(service, "spec.type"):
        case "ClusterIP" | "NodePort":
            return ",".join(addresses) or "<none>"
        case "LoadBalancer":
            ingress = at(service, "status.loadBalancer.ingress", ())
            balanced = [str(entry.get("ip") or entry.get("hostname")) for entry in ingress]
            return ",".join([*balanced, *addresses]) or "<pending>"
        case "ExternalName":
            return str(at(service, "spec.externalName", ""))
        case _:
            return "<unknown>"


def _service_ports(service: Object, now: dt.datetime) -> str:
    ports = []
    for port in at(service, "spec.ports", ()):
        number = f"{port['port']}:{port['nodePort']}" if port.get("nodePort") else str(port["port"])
        ports.append(f"{number}/{port.get('protocol', 'TCP')}")
    return ",".join(ports) or "<none>"


SERVICES = (
    NAME,
    Column("Type", text("spec.type")),
    Column("Cluster-IP", _cluster_ip),
    Column("External-IP", _external_ip),
    Column("Port(s)", _service_ports),
    AGE,
    Column("Selector", labels("spec.selector"), wide=True),
)

CONFIG_MAPS = (NAME, Column("Data", count("data", "binaryData")), AGE)
SECRETS = (NAME, Column("Type", text("type")), Column("Data", count("data")), AGE)
LEASES = (NAME, Column("Holder", text("spec.holderIdentity")), AGE)
