from __future__ import annotations

import copy
import pickle

import pytest

from drayman.errors import InputError
from drayman.quantity import Quantity, Version


def test_quantities_compare_and_hash_by_their_number() -> None:
    assert Quantity("1Ki") == Quantity(1024)
    assert hash(Quantity("1Ki")) == hash(Quantity(1024))
    assert Quantity("999m") < Quantity("1") < Quantity("1Mi")
    assert sorted([Quantity("2"), Quantity("1500m")]) == [Quantity("1.5"), Quantity("2")]


def test_sums_are_exact_and_keep_the_notation() -> None:
    assert str(Quantity("80Gi") + Quantity("512Mi")) == "82432Mi"
    assert str(Quantity("1") - Quantity("100m")) == "900m"
    assert not Quantity("1") - Quantity("1000m")


def test_numbers_are_rounded_up() -> None:
    assert (Quantity("1.5").value(), Quantity("1.5").milli_value(), float(Quantity("1.5"))) == (2, 1500, 1.5)
    assert (Quantity("1.500").canonical(), Quantity("1Gi").format) == ("1500m", "BinarySI")


def test_text_that_is_no_quantity_is_refused_with_upstreams_text() -> None:
    with pytest.raises(InputError) as caught:
        Quantity("ten")
    assert str(caught.value) == (
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )


def test_versions_compare_without_build_metadata() -> None:
    assert Version("1.2.3+a") == Version("1.2.3+b")
    assert Version("1.2.3-rc.1") < Version("1.2.3")
    assert Version("v1.2", normalize=True) == Version("1.2.0")
    assert (Version("1.2.3").major, Version("1.2.3").minor, Version("1.2.3").patch) == (1, 2, 3)


def test_text_that_is_no_version_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        Version("1.2")
    assert str(caught.value) == "No Major.Minor.Patch elements found"


@pytest.mark.parametrize("value", [Quantity("1.50Gi"), Version("1.2.3-rc.1+build")])
def test_values_survive_copies(value: Quantity | Version) -> None:
    for twin in (copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert twin == value
        assert str(twin) == str(value)
