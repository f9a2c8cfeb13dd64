from __future__ import annotations

from drayman.api import status
from drayman.api.field import Path, invalid, required

GROUP = "resource.k8s.io"


def test_missing_object_is_named_with_its_group():
    assert status.not_found(GROUP, "resourceclaims", "c") == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'resourceclaims.resource.k8s.io "c" not found',
        "reason": "NotFound",
        "details": {"name": "c", "group": GROUP, "kind": "resourceclaims"},
        "code": 404,
    }


def test_core_resource_is_named_without_a_group():
    answer = status.already_exists("", "pods", "p")
    assert answer["message"] == 'pods "p" already exists'
    assert answer["details"] == {"name": "p", "kind": "pods"}
    assert answer["code"] == 409


def test_conflict_of_resource_versions_tells_to_try_again():
    assert status.conflict("", "pods", "p", status.OBJECT_MODIFIED)["message"] == (
        'Operation cannot be fulfilled on pods "p": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


def test_invalid_object_lists_errors_and_gives_causes():
    errors = [required(Path("metadata").child("name"), "name or generateName is required"), invalid(Path("a"), 1, "no")]
    answer = status.invalid("", "Pod", "p", errors)
    assert answer["message"] == (
        'Pod "p" is invalid: [metadata.name: Required value: name or generateName is required, a: Invalid value: 1: no]'
    )
    assert answer["code"] == 422
    assert answer["details"] == {
        "name": "p",
        "kind": "Pod",
        "causes": [
            {
                "reason": "FieldValueRequired",
                "message": "Required value: name or generateName is required",
                "field": "metadata.name",
            },
            {"reason": "FieldValueInvalid", "message": "Invalid value: 1: no", "field": "a"},
        ],
    }


def test_invalid_object_of_a_group_is_named_kind_dot_group():
    answer = status.invalid(GROUP, "ResourceClaim", "n", [required(Path("spec"))])
    assert answer["message"] == 'ResourceClaim.resource.k8s.io "n" is invalid: spec: Required value'


def test_strict_errors_of_a_body_are_joined():
    answer = status.undecodable("ResourceClaim", "v1", ['unknown field "spec.a"', 'unknown field "spec.b"'])
    assert answer["message"] == (
        'ResourceClaim in version "v1" cannot be handled as a ResourceClaim: '
        'strict decoding error: unknown field "spec.a", unknown field "spec.b"'
    )


def test_refusals_have_their_codes_reasons_and_texts():
    answers = [
        status.bad_request("no"),
        status.forbidden("", "pods", "p", "why"),
        status.method_not_allowed("", "pods", "patch"),
        status.not_acceptable(["application/json"]),
        status.unsupported_media_type(["application/json", "application/yaml"]),
        status.expired("too old resource version: 1 (2)"),
        status.too_large("limit is 3"),
        status.too_many_requests("slow down", 1),
        status.internal_error("boom"),
        status.service_unavailable("later"),
        status.timeout("slow"),
        status.unauthorized(),
        status.path_not_found(),
    ]
    assert [(answer["code"], answer["reason"], answer["message"]) for answer in answers] == [
        (400, "BadRequest", "no"),
        (403, "Forbidden", 'pods "p" is forbidden: why'),
        (405, "MethodNotAllowed", 'patch is not supported on resources of kind "pods"'),
        (406, "NotAcceptable", "only the following media types are accepted: application/json"),
        (
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml",
        ),
        (410, "Expired", "too old resource version: 1 (2)"),
        (413, "RequestEntityTooLarge", "Request entity too large: limit is 3"),
        (429, "TooManyRequests", "slow down"),
        (500, "InternalError", "Internal error occurred: boom"),
        (503, "ServiceUnavailable", "later"),
        (504, "Timeout", "Timeout: slow"),
        (401, "Unauthorized", "Unauthorized"),
        (404, "NotFound", "the server could not find the requested resource"),
    ]
