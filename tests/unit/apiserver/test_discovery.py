"""Discovery, OpenAPI, version and health."""

from __future__ import annotations

import pytest


async def test_groups_and_versions(api) -> None:
    core, groups = await api.get("/api"), await api.get("/apis")
    resource = await api.get("/apis/resource.k8s.io")

    assert core["versions"] == ["v1"]
    assert "resource.k8s.io" in [group["name"] for group in groups["groups"]]
    assert resource["preferredVersion"] == {"groupVersion": "resource.k8s.io/v1", "version": "v1"}


async def test_versions_are_in_order_of_preference(make_api) -> None:
    resource = await make_api(runtime_config={"api/beta": True}).get("/apis/resource.k8s.io")

    assert [version["version"] for version in resource["versions"]] == ["v1", "v1beta2", "v1beta1"]


async def test_resources_of_a_version(api) -> None:
    listed = await api.get("/apis/resource.k8s.io/v1")

    assert [resource["name"] for resource in listed["resources"]] == [
        "deviceclasses",
        "devicetaintrules",
        "devicetaintrules/status",
        "resourceclaims",
        "resourceclaims/status",
        "resourceclaimtemplates",
        "resourceslices",
    ]


async def test_aggregated_discovery_says_the_same(api) -> None:
    form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    answer = await api.send("GET", "/apis", accept=form)

    group = next(item for item in answer.body["items"] if item["metadata"]["name"] == "resource.k8s.io")
    (version,) = group["versions"]
    assert answer.headers["content-type"] == form
    assert [resource["resource"] for resource in version["resources"]] == [
        "deviceclasses",
        "devicetaintrules",
        "resourceclaims",
        "resourceclaimtemplates",
        "resourceslices",
    ]


async def test_openapi_says_that_every_kind_takes_field_validation(api) -> None:
    index = await api.get("/openapi/v3")
    document = await api.get("/openapi/v3/apis/resource.k8s.io/v1")

    assert index["paths"]["apis/resource.k8s.io/v1"]["serverRelativeURL"].startswith(
        "/openapi/v3/apis/resource.k8s.io/v1?hash="
    )
    operation = document["paths"]["/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims/{name}"]["patch"]
    assert operation["x-kubernetes-group-version-kind"]["kind"] == "ResourceClaim"
    assert "fieldValidation" in [parameter["name"] for parameter in operation["parameters"]]


async def test_version(make_api) -> None:
    version = await make_api(kubernetes_version="1.36").get("/version")

    assert (version["major"], version["minor"], version["gitVersion"]) == ("1", "36", "v1.36.0+drayman")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping"])
async def test_health(api, path: str) -> None:
    answer = await api.send("GET", path)

    assert (answer.code, answer.body) == (200, "ok")
