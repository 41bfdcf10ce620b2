"""Class labels: the public list of names, and the anchors that carry the class sums in `moment.py`.

The list of classes must be public: declared with the data set, or, because the rows of a `Dataset` are synthetic or
public, read off its labels. A list read off private rows would disclose that a class occurs in them.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from privcov.core import checks
from privcov.tables.dataset import Dataset, ValueCache
from privcov.tables.public_facts import MAX_CLASSES, label_text

CLASSES = "classes"


def names_of(labels: np.ndarray) -> np.ndarray:
    """Return every label as text, without blanks at its ends."""
    names = np.array([label_text(v) for v in np.asarray(labels).ravel().tolist()])
    if missing := int((names == "").sum()):
        raise ValueError(
            f"labels must name a class in every row, but {missing} of {len(names)} are missing or blank. "
            "Leave those rows out, or give them a class of their own."
        )
    return names


def class_list(dataset: Dataset) -> tuple[str, ...]:
    """Return the classes in their public order: as declared, else the labels, numbers by size, then text."""
    return _class_codes(dataset)[0]


def class_index(dataset: Dataset) -> np.ndarray:
    """Return the position of each row's class in `class_list`."""
    return _class_codes(dataset)[1]


def _class_codes(dataset: Dataset) -> tuple[tuple[str, ...], np.ndarray]:
    """Return (classes, position of each row's class), computed once for a data set."""
    return dataset.cache.once(CLASSES, lambda: _code(dataset))


def _code(dataset: Dataset) -> tuple[tuple[str, ...], np.ndarray]:
    if dataset.labels is None:
        raise ValueError(
            f"centre='classes' needs a label for every row, and {dataset.name!r} has none. "
            "Give labels, or use centre='joint'."
        )
    names = names_of(dataset.labels)
    distinct = sorted(set(names.tolist()), key=_order)
    classes = dataset.classes or tuple(distinct)
    if len(set(classes)) < len(classes):
        raise ValueError(f"classes must name every class once, got {', '.join(classes)}.")
    if len(classes) < 2:
        raise ValueError(
            f"labels must name at least two classes, and here every row is {classes[0]!r}. Use centre='joint'."
        )
    if len(classes) > min(dataset.n, MAX_CLASSES):
        limit = f"{dataset.n} rows" if dataset.n < MAX_CLASSES else f"the {MAX_CLASSES} that are offered"
        raise ValueError(
            f"labels name {len(classes)} classes, more than {limit}. "
            "Labels must be classes, not measurements; merge rare ones."
        )
    unlisted = [name for name in distinct if name not in classes]
    if unlisted:
        raise ValueError(
            f"labels hold {unlisted[0]!r}, which is not in the declared classes {', '.join(classes)}. "
            "Declare it, or leave those rows out."
        )
    place = {name: i for i, name in enumerate(classes)}
    return classes, np.array([place[name] for name in names.tolist()])


def _order(name: str) -> tuple:
    """Return the sort key of a class name: numbers by size, then text by alphabet."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def count_anchors(dataset: Dataset, centre: str) -> int:
    """Return the number of anchored rows of the joint moment."""
    checks.one_of("centre", centre, ("none", "zero", "joint", CLASSES))
    return len(class_list(dataset)) if centre == CLASSES else int(centre == "joint")


def take(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """Return the data set of some rows, with the classes of the whole: a class may be absent from a part."""
    part = dataset.rows[rows]
    part.flags.writeable = False
    labels, classes = dataset.labels, dataset.classes
    if labels is not None:
        labels, classes = labels[rows], class_list(dataset)
    return dataclasses.replace(dataset, rows=part, labels=labels, classes=classes, cache=ValueCache())
