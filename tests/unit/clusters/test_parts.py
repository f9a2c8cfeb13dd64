"""Images, certificates, tokens, roles, and the output of containers that do not run."""

from __future__ import annotations

import io
import json
import ssl
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest

from drayman import manifests
from drayman.clock import RealClock
from drayman.testing.clusters.local import images
from drayman.testing.clusters.local.credentials import Authority, Tokens
from drayman.testing.kubelet.logserver import LogServer

if TYPE_CHECKING:
    from typing import Any


def test_images_hold_busybox_under_its_names(tmp_path: Path) -> None:
    busybox = tmp_path / "busybox"
    busybox.write_bytes(b"program")
    images.write(tmp_path / "one.tar", busybox)
    images.write(tmp_path / "two.tar", busybox)

    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    with tarfile.open(tmp_path / "one.tar") as archive:
        manifest = json.load(_content(archive, "manifest.json"))
        assert [entry["RepoTags"] for entry in manifest] == [[images.TESTBOX], [images.PAUSE]]
        configs = [json.load(_content(archive, entry["Config"]))["config"] for entry in manifest]
        assert [config["StopSignal"] for config in configs] == ["SIGKILL", "SIGTERM"]
        with tarfile.open(fileobj=_content(archive, manifest[0]["Layers"][0])) as layer:
            assert _content(layer, "bin/busybox").read() == b"program"
            assert layer.getmember("bin/sh").linkname == "busybox"


def test_images_of_programs_have_them_where_they_belong(tmp_path: Path) -> None:
    program, data = tmp_path / "program", tmp_path / "data"
    program.write_bytes(b"program")
    program.chmod(0o755)
    data.write_bytes(b"data")
    image = images.Image("registry.example/program:v1", ("program",), "SIGTERM")
    images.write_files(tmp_path / "images.tar", {"usr/bin/program": program, "etc/data": data}, [image])

    with tarfile.open(tmp_path / "images.tar") as archive:
        (entry,) = json.load(_content(archive, "manifest.json"))
        assert entry["RepoTags"] == [image.name]
        assert json.load(_content(archive, entry["Config"]))["config"]["Cmd"] == ["program"]
        with tarfile.open(fileobj=_content(archive, entry["Layers"][0])) as layer:
            assert {member.name: member.mode for member in layer} == {"usr/bin/program": 0o755, "etc/data": 0o644}
            assert _content(layer, "usr/bin/program").read() == b"program"


def _content(archive: tarfile.TarFile, name: str) -> io.BytesIO:
    file = archive.extractfile(name)
    assert file is not None
    return io.BytesIO(file.read())


def test_tokens_are_written_for_the_api_server(tmp_path: Path) -> None:
    tokens = Tokens()
    admin, node = tokens.add("admin", "system:masters"), tokens.add("node", "a", "b")
    tokens.write(tmp_path / "tokens.csv")

    assert tokens.add("admin") == admin
    assert (tmp_path / "tokens.csv").read_text() == f'{admin},admin,admin,"system:masters"\n{node},node,node,"a,b"\n'
    assert (tmp_path / "tokens.csv").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("part", ["scheduler", "driver"])
def test_roles_are_of_named_resources_and_verbs_only(part: str) -> None:
    role = manifests.role(part)
    words = {word for rule in role["rules"] for list_ in rule.values() for word in list_}

    assert (role["kind"], role["metadata"]["name"]) == ("ClusterRole", f"drayman-{part}")
    assert not words & {"*", "secrets", "escalate", "bind", "impersonate"}


async def test_output_is_served_to_the_api_server_alone(tmp_path: Path) -> None:
    authority = Authority(tmp_path, RealClock().now())
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.path))
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_cert_chain(*authority.issue("kubelets", "kubelets", hosts=["127.0.0.1"]))
    client = ssl.create_default_context(cafile=str(authority.path))
    client.load_cert_chain(*authority.issue("api", "kube-apiserver"))
    stranger = ssl.create_default_context(cafile=str(authority.path))
    logs = LogServer()
    logs.store("team-a", "p", "main", b"one\ntwo\n")

    async with logs.serving(server):
        url = f"https://127.0.0.1:{logs.port}/containerLogs/team-a/p"
        assert await _get(f"{url}/main", client) == (200, "one\ntwo\n")
        assert await _get(f"{url}/main?tailLines=1", client) == (200, "two\n")
        assert await _get(f"{url}/main?limitBytes=2", client) == (200, "on")
        assert await _get(f"{url}/other", client) == (404, "container other has not started")
        with pytest.raises((aiohttp.ClientError, ConnectionError)):
            await _get(f"{url}/main", stranger)


async def _get(url: str, context: ssl.SSLContext) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session, session.get(url, ssl=context) as answer:
        return answer.status, await answer.text()
