from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from drayman.errors import InputError
from drayman.kube import config


def kubeconfig(path: Path, *, user: dict[str, Any], cluster: dict[str, Any] | None = None) -> Path:
    document = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "team-a"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443/", **(cluster or {})}}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.mark.parametrize(
    "given",
    [
        {"token": "t", "ca_data": b"PEM"},
        {"certificate": b"CERTIFICATE", "key": b"KEY", "server_name": "other", "proxy": "http://127.0.0.1:3128"},
        {"token_file": Path("/var/run/token"), "insecure": True},
        {"password": ("me", "secret"), "namespace": "team-a"},
        {},
    ],
)
def test_written_kubeconfig_reads_back_as_it_was(tmp_path: Path, given: dict[str, Any]) -> None:
    server = config.ServerConfig(url="https://127.0.0.1:1", **given)
    config.write(tmp_path / "config", server, name="x")
    assert config.load(tmp_path / "config") == server


def test_token_file_relative_to_the_kubeconfig_is_read_for_each_request(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("one\n")
    server = config.load(kubeconfig(tmp_path / "config", user={"tokenFile": "token"}))
    assert server.authorization() == {"authorization": "Bearer one"}
    (tmp_path / "token").write_text("two\n")
    assert server.authorization() == {"authorization": "Bearer two"}


def test_token_file_that_is_being_replaced_is_a_connection_that_fails(tmp_path: Path) -> None:
    server = config.ServerConfig(url="https://127.0.0.1:1", token_file=tmp_path / "token")
    with pytest.raises(ConnectionError, match=r"^cannot read the token `.*/token`: no such file or directory$"):
        server.authorization()


@pytest.fixture
def service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    for name, content in (("token", "one"), ("namespace", "drayman-system"), ("ca.crt", "PEM")):
        (folder / name).write_text(content + "\n")
    monkeypatch.setattr(config, "_SERVICE_ACCOUNT", folder)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return folder


def test_pod_finds_its_service_account_and_takes_each_new_token(
    service_account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    server = config.load()

    assert (server.url, server.namespace, server.ca_data) == ("https://[fd00::1]:6443", "drayman-system", b"PEM\n")
    assert server.authorization() == {"authorization": "Bearer one"}
    rotated = service_account / "rotated"
    rotated.write_text("two\n")
    rotated.rename(service_account / "token")
    assert server.authorization() == {"authorization": "Bearer two"}


def test_user_without_a_home_has_a_service_account_all_the_same(
    service_account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert config.load().url == "https://kubernetes.default.svc:443"
    (service_account / "token").unlink()
    with pytest.raises(InputError, match=r"looked for `/\.kube/config`"):
        config.load()


def test_inline_certificates_and_namespace_are_taken(tmp_path: Path) -> None:
    inline = {name: base64.b64encode(name.encode()).decode() for name in ("client-certificate-data", "client-key-data")}
    server = config.load(kubeconfig(tmp_path / "config", user=inline))
    assert (server.url, server.namespace) == ("https://127.0.0.1:6443", "team-a")
    assert (server.certificate, server.key) == (b"client-certificate-data", b"client-key-data")


def test_exec_plugin_gives_the_token(tmp_path: Path) -> None:
    answer = json.dumps({"status": {"token": "from-plugin"}})
    plugin = {"apiVersion": "v1", "command": sys.executable, "args": ["-c", f"print({answer!r})"]}
    server = config.load(kubeconfig(tmp_path / "config", user={"exec": plugin}))
    assert server.token == "from-plugin"


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ({"exec": {"command": "/does/not/exist"}}, "credential plugin `/does/not/exist` failed: "),
        ({"auth-provider": {"name": "nope"}}, "user `u`: `auth-provider` gave no token"),
        ({"as": "someone"}, "user `u`: impersonation (`as`) is not supported"),
        ({"client-key-data": "%"}, "`client-key-data` is not base64"),
        ({"client-key": "missing"}, "cannot read `client-key` `missing`: No such file or directory"),
    ],
)
def test_unusable_credentials_are_named(tmp_path: Path, user: dict[str, Any], message: str) -> None:
    path = kubeconfig(tmp_path / "config", user=user)
    with pytest.raises(InputError) as caught:
        config.load(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_unknown_context_is_refused_by_name(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", user={})
    with pytest.raises(InputError) as caught:
        config.load(path, context="there")
    assert str(caught.value) == f"{path}: context `there` is not defined"


def test_no_kubeconfig_at_all_says_where_it_was_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(InputError) as caught:
        config.load()
    assert str(caught.value) == f"no kubeconfig found: looked for `{tmp_path / 'none'}`"
    assert caught.value.hint == "pass --kubeconfig, or set KUBECONFIG"


def test_token_of_an_auth_provider_comes_from_the_kubernetes_package(tmp_path: Path) -> None:
    never = "2999-01-01T00:00:00Z"
    provider = {"name": "gcp", "config": {"access-token": "from-provider", "expiry": never}}
    server = config.load(kubeconfig(tmp_path / "config", user={"auth-provider": provider}))
    assert (server.token, server.url) == ("from-provider", "https://127.0.0.1:6443")


def test_failing_plugin_says_why(tmp_path: Path) -> None:
    plugin = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('log in first')"]}
    with pytest.raises(InputError) as caught:
        config.load(kubeconfig(tmp_path / "config", user={"exec": plugin}))
    assert caught.value.hint == "log in first"


def test_plugin_with_a_path_is_found_beside_the_kubeconfig(tmp_path: Path) -> None:
    script = tmp_path / "bin" / "plugin"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho \'{"status": {"token": "t"}}\'\n')
    script.chmod(0o755)
    server = config.load(kubeconfig(tmp_path / "config", user={"exec": {"command": "bin/plugin"}}))
    assert server.token == "t"


def test_files_of_the_variable_are_laid_over_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "below" / "second"
    first.write_text(yaml.safe_dump({"contexts": [{"name": "mine", "context": {"cluster": "c", "user": "u"}}]}))
    second.parent.mkdir()
    (second.parent / "token").write_text("t")
    kubeconfig(second, user={"tokenFile": "token"})
    monkeypatch.setenv("KUBECONFIG", f"{first}:{tmp_path / 'missing'}:{second}")
    assert config.load().namespace == "team-a"
    mine = config.load(context="mine")
    assert (mine.namespace, mine.authorization()) == ("default", {"authorization": "Bearer t"})


@pytest.mark.parametrize("server", ["api.example", "https://api.example:port", "ftp://api.example", "https:///x"])
def test_server_that_is_no_url_is_refused(tmp_path: Path, server: str) -> None:
    path = kubeconfig(tmp_path / "config", user={}, cluster={"server": server})
    with pytest.raises(InputError) as caught:
        config.load(path)
    assert str(caught.value) == f"{path}: cluster `c`: `server` `{server}` is no URL of an API server"


def test_certificate_that_is_none_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        config.ServerConfig(url="https://127.0.0.1:1", ca_data=b"nonsense").ssl_context()
    assert str(caught.value).startswith("a certificate or key of the kubeconfig cannot be used: ")


def test_names_of_contexts_are_told(tmp_path: Path) -> None:
    assert config.contexts(kubeconfig(tmp_path / "config", user={})) == ["here"]


@pytest.mark.parametrize(
    ("server", "excepted", "proxy"),
    [
        ("https://api.example:6443", "", "http://proxy.example:3128"),
        ("https://api.example:6443", "other.example,.example", None),
        ("https://127.0.0.1:6443", "", None),
        ("https://localhost:6443", "", None),
    ],
)
def test_proxy_of_the_environment_is_used_except_for_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str, excepted: str, proxy: str | None
) -> None:
    for name in ("https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", excepted)
    assert config.load(kubeconfig(tmp_path / "config", user={}, cluster={"server": server})).proxy == proxy


def test_proxy_of_the_kubeconfig_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    server = {"server": "https://api.example", "proxy-url": "http://mine.example:1"}
    assert config.load(kubeconfig(tmp_path / "config", user={}, cluster=server)).proxy == "http://mine.example:1"
