"""The images that a node has from the start, written from programs, and put into the store of its containerd."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hack.kind import engine
from hack.kind.debian import run
from hack.kind.parts import module_of

if TYPE_CHECKING:
    from collections.abc import Mapping

WRITER = engine.ROOT / "python/drayman/testing/clusters/local/images.py"
CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd")
FIREWALL = ("iptables", "ip6tables")
START_SECONDS = 60

# The store alone: what runs containers, and asks the machine for more, stays out.
CONFIG = """version = 3
root = '{root}'
state = '{state}'
disabled_plugins = ['io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.images', 'io.containerd.cri.v1.runtime',
  'io.containerd.podsandbox.controller.v1.podsandbox', 'io.containerd.nri.v1.nri', 'io.containerd.internal.v1.opt']
[grpc]
  address = '{socket}'
[plugins.'io.containerd.ttrpc.v1.ttrpc']
  address = '{socket}.ttrpc'
"""


def named(kubeadm: Path, version: str) -> dict[str, str]:
    """Return the images that kubeadm asks for, by the last part of their names."""
    listed = run([kubeadm, "config", "images", "list", "--kubernetes-version", version])
    return {re.split(r"[/:]", image)[-2]: image for image in listed.split()}


def preload(root: Path, programs: Mapping[str, Path], names: Mapping[str, str]) -> None:
    """Put the images into the store of the node's containerd, below `root`."""
    writer = module_of(WRITER)
    with tempfile.TemporaryDirectory(dir=root.parent) as temporary:
        folder = Path(temporary)
        shell = [
            image if image.name == writer.TESTBOX else replace(image, name=names["pause"]) for image in writer.IMAGES
        ]
        writer.write(folder / "shell.tar", programs["busybox"], shell)
        for name in CONTROL_PLANE:
            image = writer.Image(names[name], (name,), "SIGTERM")
            writer.write_files(folder / f"{name}.tar", {f"usr/local/bin/{name}": programs[name]}, [image])
        files = {"usr/local/bin/kube-proxy": programs["kube-proxy"], **firewall(root)}
        image = writer.Image(names["kube-proxy"], ("kube-proxy",), "SIGTERM")
        writer.write_files(folder / "kube-proxy.tar", files, [image])
        _import(folder, root / "var/lib/containerd", programs)


def firewall(root: Path) -> dict[str, Path]:
    """Return iptables and nft of the node, with what they load, by their paths inside: kube-proxy calls them."""
    programs = {"usr/sbin/nft": root / "usr/sbin/nft"}
    multi = root / "usr/sbin/xtables-nft-multi"
    programs |= {f"usr/sbin/{name}{task}": multi for name in FIREWALL for task in ("", "-save", "-restore")}
    needed = run(["chroot", root, "ldd", "/usr/sbin/nft", "/usr/sbin/xtables-nft-multi"])
    libraries = {path: root / path for path in re.findall(r"/(\S+\.so\S*)", needed)}
    extensions = (root / "usr/lib").glob("*/xtables/*.so")
    return {**programs, **libraries, **{str(path.relative_to(root)): path for path in extensions}}


def _import(folder: Path, store: Path, programs: Mapping[str, Path]) -> None:
    socket, config = folder / "containerd.sock", folder / "config.toml"
    config.write_text(CONFIG.format(root=store, state=folder / "state", socket=socket))
    with (folder / "log").open("wb") as log:
        daemon = subprocess.Popen([programs["containerd"], "--config", config], stdout=log, stderr=log)
    ctr: list[str | Path] = [programs["ctr"], "--address", socket, "--namespace", "k8s.io"]
    try:
        deadline = time.monotonic() + START_SECONDS
        while subprocess.run([*ctr, "version"], capture_output=True, check=False).returncode:
            if daemon.poll() is not None or time.monotonic() > deadline:
                raise engine.Failure(f"containerd does not start:\n{(folder / 'log').read_text()[-3000:]}")
            time.sleep(0.1)
        for archive in sorted(folder.glob("*.tar")):
            # What is unpacked would be there twice; containerd unpacks what a pod uses.
            run([*ctr, "images", "import", "--no-unpack", "--digests", "--all-platforms", archive])
    finally:
        daemon.terminate()
        daemon.wait()
