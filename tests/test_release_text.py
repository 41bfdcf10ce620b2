"""The text of a release: its format has a number, and what was not written so is a ValueError in a sentence."""

import json
import random

import pytest

import privcov
from privcov import ApproxDP, PureDP, Release, ZCDP
from privcov.releases.release import FORMAT, _digest
from tests.forging import exchanged, leaves, released

MADE = {
    "path": ("auto-precision", ZCDP(0.5), {}),
    "classes": ("gaussian-cov", ApproxDP(1.0, 1e-5), {"centre": "classes"}),
    "hidden n": ("laplace-cov", PureDP(1.0), {"neighbours": "add-remove"}),
    "several steps": ("separate-cov", ZCDP(0.5), {}),
    "wishart": ("wishart-approx", ApproxDP(1.0, 1e-5), {}),
    "zero": ("zero", ZCDP(0.5), {}),
    "no noise": ("gaussian-cov", privcov.NoPrivacy(), {}),
}


def made(kind: str) -> Release:
    method, guarantee, options = MADE[kind]
    ds = privcov.source("ar1-covariance", n=60, d=2, random_state=0)
    if kind == "classes":
        ds = privcov.Dataset.from_rows(ds.rows, row_bound=2.0, labels=["a", "b"] * 30)
    return privcov.release(ds, guarantee, method, **{"random_state": 0, **options})


def bare(text: str) -> dict:
    """The fields of a text without its number and its digest."""
    fields = json.loads(text)
    del fields["format"], fields["digest"]
    return fields


def signed(fields: dict) -> str:
    """A text whose digest is that of its fields: whoever alters a text can write it anew."""
    return json.dumps({**fields, "format": FORMAT, "digest": _digest(fields)})


@pytest.mark.parametrize("kind", list(MADE))
def test_a_text_of_another_format_is_refused(kind):
    rel = made(kind)
    assert Release.from_json(signed(bare(rel.to_json()))).to_json() == rel.to_json()
    for number in (3, 0, 1, "2", None, True, 2.0, []):
        with pytest.raises(ValueError, match=r"The release has format .*, and this version of privcov reads format 2"):
            Release.from_json(json.dumps({**json.loads(rel.to_json()), "format": number}))
    for text in ("", "{", "[]", "null", "3", '"x"', "[" * 100_000, "{}"):
        with pytest.raises(ValueError, match=r"^T"):
            Release.from_json(text)


def altered(fields: dict):
    """Every leaf taken out and exchanged; 1e999 reads as infinity."""
    for path in leaves(fields):
        if path:
            yield path, exchanged(fields, path)
            for new in (None, -1, "x", [], float("inf"), {}, True, 10**400):
                yield path, exchanged(fields, path, new)


def opened(read, value, start: tuple[str, ...]) -> bool:
    """Whether the text of ``value`` was read; else it was refused, and only as it should be."""
    try:
        made = read(json.dumps(value).replace("Infinity", "1e999"))
    except ValueError as problem:
        refused = str(problem)
    else:
        assert str(made.statement)
        assert made.to_json()
        return True
    assert refused.startswith(start), refused
    return False


def _read(text: str) -> Release:
    return Release.from_json(signed(json.loads(text)))


def fuzzed(kind: str, most: int) -> None:
    """With the digest every change is found; under a digest of its own it is a sentence or a whole release."""
    fields = json.loads(made(kind).to_json())
    old = bare(json.dumps(fields))
    start = ("The text of the release was altered or is broken", "This is not the text of a release")
    every = list(altered(old))
    some = random.Random(kind).sample(every, min(most, len(every)))
    read = [path for path, changed in some if opened(_read, changed, start)]
    assert len(read) < 0.6 * len(some)
    assert not [path for path in read if path[0] in ("guarantee", "row_bound", "target")]
    for _, changed in some[::5]:
        if json.dumps(changed) != json.dumps(old):
            with pytest.raises(ValueError, match=r"altered after it was written|finite numbers"):
                Release.from_json(json.dumps({**changed, "format": 2, "digest": fields["digest"]}))


@pytest.mark.parametrize("kind", list(MADE))
def test_an_altered_text_is_a_sentence_and_never_another_error(kind):
    fuzzed(kind, 60)


@pytest.mark.deep
@pytest.mark.parametrize("kind", list(MADE))
def test_every_altered_text_is_a_sentence_and_never_another_error(kind):
    fuzzed(kind, 10**6)


def test_a_stored_measurement_that_is_altered_is_a_sentence(tmp_path):
    """Every leaf of it, and all its facts: what still opens is a whole measurement and says the same again."""
    from privcov.measurements.exact.private_moment import NoisySum

    rel, _ = released(tmp_path, "classes")
    whole = json.loads(json.dumps(rel.measurement.to_dict()))
    assert NoisySum.from_dict(whole).to_dict() == whole
    every = list(altered(whole))
    for _, changed in random.Random(0).sample(every, 250):
        value, refused, read = json.loads(json.dumps(changed).replace("Infinity", "1e999")), "", None
        try:
            read = NoisySum.from_dict(value)
        except ValueError as problem:
            refused = str(problem)
        assert refused.endswith(".") or json.loads(json.dumps(read.to_dict())) == value, refused
    for other in (None, [], "x", 3, {}):
        with pytest.raises(ValueError, match="The measurement is of version None"):
            NoisySum.from_dict(other)


@pytest.mark.parametrize("kind", ["path", "hidden n"])
def test_a_text_without_the_matrix_that_is_its_target_is_refused(kind):
    """Whatever else is in order, its digest too."""
    fields = bare(made(kind).to_json())
    fields[fields["target"].replace(" ", "_")] = None
    with pytest.raises(ValueError, match="names as its target"):
        Release.from_json(signed(fields))
