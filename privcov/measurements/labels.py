"""Class labels: the public list of names, and the anchors that carry the class sums in `moment.py`.

The list of classes must be public: declared with the data set, or, because the rows of a `Dataset` are synthetic or
public, read off its labels. Names that only some private rows bear would give those rows away.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from privcov import checks
from privcov.dataset import Dataset, FileRows, Kept
from privcov.public_facts import MOST_CLASSES, label_text

CLASSES = "classes"


def names_of(labels: np.ndarray) -> np.ndarray:
    """Every label as text, without blanks at its ends. Raises ValueError where a label is missing or blank."""
    names = np.array([label_text(v) for v in np.asarray(labels).ravel().tolist()])
    if missing := int((names == "").sum()):
        raise ValueError(
            f"labels must name a class in every row, but {missing} of {len(names)} are missing or blank. "
            "Leave those rows out, or give them a class of their own."
        )
    return names


def class_list(dataset: Dataset) -> tuple[str, ...]:
    """The classes in their public order: as declared, else the distinct labels (numbers by size, text by alphabet).

    Raises ValueError for no labels, fewer than two classes, more than rows or than MOST_CLASSES, and for a label that
    is not in the declared list.
    """
    if isinstance(dataset.rows, FileRows) and dataset.classes:  # the pass over the files looks at the labels
        return dataset.classes
    return _coded(dataset)[0]


def class_index(dataset: Dataset) -> np.ndarray:
    """The position of each row's class in `class_list`, n whole numbers."""
    return _coded(dataset)[1]


def _coded(dataset: Dataset) -> tuple[tuple[str, ...], np.ndarray]:
    return dataset.kept.once(CLASSES, lambda: _code(dataset))


def _code(dataset: Dataset) -> tuple[tuple[str, ...], np.ndarray]:
    if dataset.labels is None:
        raise ValueError(
            f"centre='classes' needs a label for every row, and {dataset.name!r} has none. "
            "Give labels, or use centre='joint'."
        )
    names = names_of(dataset.labels)
    found = sorted(set(names.tolist()), key=_order)
    classes = dataset.classes or tuple(found)
    if len(set(classes)) < len(classes):
        raise ValueError(f"classes must name every class once, got {', '.join(classes)}.")
    if len(classes) < 2:
        raise ValueError(
            f"labels must name at least two classes, and here every row is {classes[0]!r}. Use centre='joint'."
        )
    if len(classes) > min(dataset.n, MOST_CLASSES):
        limit = f"{dataset.n} rows" if dataset.n < MOST_CLASSES else f"the {MOST_CLASSES} that are offered"
        raise ValueError(
            f"labels name {len(classes)} classes, more than {limit}. "
            "Labels must be classes, not measurements; merge rare ones."
        )
    strange = [name for name in found if name not in classes]
    if strange:
        raise ValueError(
            f"labels hold {strange[0]!r}, which is not in the declared classes {', '.join(classes)}. "
            "Declare it, or leave those rows out."
        )
    place = {name: i for i, name in enumerate(classes)}
    return classes, np.array([place[name] for name in names.tolist()])


def _order(name: str) -> tuple:
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def count_anchors(dataset: Dataset, centre: str) -> int:
    """How many anchored rows the joint moment has: 0 for "none" and "zero", 1 for "joint", one per class."""
    checks.one_of("centre", centre, ("none", "zero", "joint", CLASSES))
    return len(class_list(dataset)) if centre == CLASSES else int(centre == "joint")


def take(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """The data set of some rows (positions), with the classes of the whole: a class may be absent from a part."""
    part = dataset.rows[rows]
    part.flags.writeable = False
    labels, classes = dataset.labels, dataset.classes
    if labels is not None:
        labels, classes = labels[rows], class_list(dataset)
    return dataclasses.replace(dataset, rows=part, labels=labels, classes=classes, kept=Kept())
