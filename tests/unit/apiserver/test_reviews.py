"""What clients may is asked before they try."""

from __future__ import annotations

import pytest

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


async def test_everything_is_allowed(api) -> None:
    spec = {"resourceAttributes": {"verb": "create", "resource": "pods"}}
    answer = await api.send("POST", REVIEWS, {"spec": spec})

    assert answer.code == 201
    assert answer.body == {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": {"allowed": True},
    }


@pytest.mark.parametrize(
    ("method", "body", "code"), [("POST", {"spec": {}}, 400), ("POST", [], 400), ("GET", None, 405)]
)
async def test_what_is_no_review_is_refused(api, method: str, body: object, code: int) -> None:
    assert (await api.send(method, REVIEWS, body)).code == code


async def test_review_of_another_kind_is_not_found(api) -> None:
    assert (await api.send("POST", REVIEWS.replace("access", "rules"), {"spec": {}})).code == 404
