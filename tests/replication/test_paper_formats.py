"""Every form in which the papers' sets are handed round is read alike; a wrong file is told what is wrong with it."""

import gzip

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

import privcov
from privcov.data_sources.base import SOURCES
from replication.sources import papers
from replication.sources.papers import MissingData

V = [f"V{k}" for k in range(1, 35)]


def parse(key, *parts):
    return SOURCES.get(key).cls.parse(parts)


def refused(key, *parts, match):
    with pytest.raises(ValueError, match=match) as caught:
        parse(key, *parts)
    assert not isinstance(caught.value, MissingData)
    assert str(caught.value).endswith(".")


def test_ionosphere_with_and_without_a_header(made):
    rows = made.ionosphere()
    plain = parse("ionosphere", made.text(rows))
    words = [[*row[:-1], {"g": "good", "b": "bad"}[row[-1]]] for row in rows]
    named = parse("ionosphere", made.text([[*V, "Class"], *words]))
    np.testing.assert_array_equal(plain.values, [row[:-1] for row in rows])
    for other in (named, parse("ionosphere", b"\xef\xbb\xbf" + made.text(rows).replace(b"\n", b"\r\n") + b"\n\n")):
        np.testing.assert_array_equal(other.values, plain.values)
        np.testing.assert_array_equal(other.labels, plain.labels)
    assert plain.columns == tuple(V)


def test_colon_as_one_table_and_as_published(made):
    values, signs = made.colon(), made.tissues()
    words = ["tumor" if s < 0 else "normal" for s in signs]
    genes = [f"g{k:04d}" for k in range(1, 2001)]
    tidy = made.text([[*genes, "tissue"], *([*row, w] for row, w in zip(values.tolist(), words, strict=True))])
    one = parse("colon", tidy)
    matrix, wide = (made.text(part.tolist(), " ") for part in (values.T, values))
    for listed in (made.text([signs], " "), made.text([[s] for s in signs]), made.text([[w] for w in words])):
        for parts in ((matrix, listed), (listed, wide)):
            found = parse("colon", *parts)
            np.testing.assert_array_equal(found.values, one.values)
            assert found.labels.tolist() == one.labels.tolist() == words
    assert parse("colon", matrix).labels is None
    assert one.columns == tuple(genes)


def test_parkinsons_by_the_names_of_its_columns(made):
    values, status = made.parkinsons()
    names = list(SOURCES.get("parkinsons").cls.table)
    names = [column.name for column in names]
    rows = [["name", *names[:16], "status", *names[16:]]]
    rows += [[f"r{k}", *v[:16], s, *v[16:]] for k, (v, s) in enumerate(zip(values.tolist(), status, strict=True))]
    found = parse("parkinsons", made.text(rows))
    np.testing.assert_array_equal(found.values, values)
    assert found.labels.tolist() == ["parkinson"] * 147 + ["healthy"] * 48
    assert found.columns == tuple(names)
    refused("parkinsons", made.text(rows[1:]), match="first line must hold the column names")
    refused("parkinsons", made.text(rows[:-1]), match="194 rows of 22, and the Parkinson's set has 195")
    refused("parkinsons", made.text([row[:17] + row[18:] for row in rows]), match="no column status")
    refused("parkinsons", made.text([row[:1] + row[3:] for row in rows]), match=r"no column MDVP:Fo\(Hz\), MDVP:Fhi")
    swapped = [[*row[:6], row[7], row[6], *row[8:]] for row in rows[1:]]
    refused("parkinsons", made.text([rows[0], *swapped]), match="not three times MDVP:RAP")


@pytest.mark.parametrize("form", ["comma", "space", "row names"])
def test_microbiome_in_its_forms(made, form):
    counts, bmi = made.microbiome()
    header = ["Index", "BMI", *made.genera()]
    rows = [[k, b, *row] for k, (b, row) in enumerate(zip(bmi.tolist(), counts.tolist(), strict=True), 1)]
    if form == "row names":
        raw = made.text([[f'"{name}"' for name in header], *([f'"{k}"', *row] for k, row in enumerate(rows))], " ")
    else:
        raw = made.text([header, *rows], "," if form == "comma" else "  ")
    found = parse("microbiome", raw)
    np.testing.assert_array_equal(found.values, counts)
    assert found.labels.tolist() == ["lean"] * 63 + ["obese"] * 35  # 25.0 itself is obese
    assert found.columns[:2] == ("Genus0", "Genus1")


def test_microbiome_says_what_is_wrong_and_counts_its_genera(made):
    counts, bmi = made.microbiome()
    header = ["BMI", *made.genera()]
    rows = [[b, *row] for b, row in zip(bmi.tolist(), counts.tolist(), strict=True)]
    refused("microbiome", made.text([header[:-1], *(row[:-1] for row in rows)]), match="98 rows of 86, and the gut")
    refused(
        "microbiome",
        made.text([header, *([row[0] + 4, *row[1:]] for row in rows)]),
        match="are 98 obese, and .* set has 63 lean, 35 obese",
    )
    refused(
        "microbiome", made.text([header, *([*row[:-1], 0.5] for row in rows)]), match="counts must be whole numbers"
    )
    refused("microbiome", made.text([["weight", *header[1:]], *rows]), match="no column BMI")
    cls = SOURCES.get("microbiome").cls
    raw = parse("microbiome", made.text([header, *rows]))
    chosen = cls(genera="40 present (chosen on the data)").make_from(raw)
    # 30 genera are in every sample; the others are in three samples of one group, one too few
    assert chosen.columns == tuple(f"Genus{k}" for k in range(30))
    shares = cls(scale="shares of a sample").make_from(raw)
    np.testing.assert_allclose(shares.rows.sum(axis=1), 1)
    np.testing.assert_array_equal(cls().make_from(raw).rows, np.log10(1 + counts))


def test_mnist_in_its_forms(made):
    images, labels = made.digits()
    forms = [
        (made.npz(X=images.reshape(200, 784), y=labels),),
        (made.npz(x_train=images, y_train=labels, x_test=images[:1], y_test=labels[:1]),),
        (made.idx(images), made.idx(labels)),
        (made.idx(labels, False), made.idx(images, False)),
    ]
    for parts in forms:
        found = parse("mnist", *parts)
        np.testing.assert_array_equal(found.values, images.reshape(200, 784))
        np.testing.assert_array_equal(found.labels, labels)
    make = SOURCES.get("mnist").cls
    all_of_them = make(n=200).make_from(found)
    np.testing.assert_array_equal(all_of_them.rows, images.reshape(200, 784) / (255 * 28))
    assert all_of_them.row_bound == 1.0
    assert all_of_them.name == "mnist (a copy of 200 pictures)"
    three = make(n=150, digit="3").make_from(found)
    assert three.n == (labels[:150] == 3).sum()
    assert set(three.labels) == {3}
    with pytest.raises(ValueError, match="n=6,000 pictures were asked for, and this copy of MNIST has 200 of 60,000"):
        make().make_from(found)


def test_a_whole_mnist_must_have_the_training_counts(made):
    images, labels = np.zeros((60_000, 784), dtype=np.uint8), np.repeat(np.arange(10), made.each)
    assert len(parse("mnist", made.npz(X=images, y=labels)).values) == 60_000
    wrong = labels.copy()
    wrong[0] = 1
    refused("mnist", made.npz(X=images, y=wrong), match="the MNIST set has 5,923 0")


def test_hashing_folds_exactly():
    """d = 32 and 128 are what scikit-learn's own hashing into so many columns gives."""
    words = [f"word{k}" for k in range(3000)]
    rng = np.random.default_rng(0)
    documents = [" ".join(rng.choice(words, 200)) for _ in range(30)]
    raw = parse("news", ("\n".join(documents) + "\n\n").encode())
    for d in (32, 128, 512):
        want = HashingVectorizer(n_features=d, norm=None, alternate_sign=True).transform(documents).toarray()
        make = SOURCES.get("news").cls
        largest = make(d=d, divide="largest row (chosen on the data)").make_from(raw)
        np.testing.assert_allclose(largest.rows, want / np.linalg.norm(want, axis=1).max(), rtol=1e-12)
        each = make(d=d).make_from(raw)
        np.testing.assert_allclose(each.rows, want / np.linalg.norm(want, axis=1, keepdims=True), rtol=1e-12)
        assert np.linalg.norm(each.rows, axis=1).max() <= 1
        assert each.name == "news (30 documents)"
    packed = parse("news", gzip.compress("\n".join(documents).encode()))
    np.testing.assert_array_equal(packed.values, raw.values)


def test_news_as_counts_and_what_can_be_wrong(made):
    counts = np.random.default_rng(1).integers(-3, 4, (9, 512))
    counts[4] = 0
    found = parse("news", made.npz(X=counts, y=np.arange(9)))
    rows = SOURCES.get("news").cls(d=512).make_from(found).rows
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), np.arange(9) != 4)
    refused("news", made.npz(X=counts[:, :500]), match=r"\(9, 500\), and n x 512 hashed counts")
    refused("news", made.npz(Y=counts), match="X has shape None")
    refused("news", made.npz(X=counts / 7), match="whole numbers")
    refused("news", made.npz(X=np.where(counts == 0, np.nan, counts)), match="whole numbers")
    refused("news", made.npz(X=counts, y=[1]), match=r"y has shape \(1,\), and X has 9 rows")
    refused("news", b"one single text", match="one document per line")
    with pytest.raises(ValueError, match="d must be one of"):
        SOURCES.get("news").cls(d=100)


def test_a_file_that_unfolds_too_far_is_refused(made, monkeypatch):
    monkeypatch.setattr("replication.sources.tables.MAX_BYTES", 10_000)
    monkeypatch.setattr("replication.sources.archives.MAX_BYTES", 10_000)
    refused("ionosphere", gzip.compress(b"1 " * 50_000), match="unfolds to more than")
    refused("news", made.npz(X=np.zeros((50, 512), dtype=int)), match="unfolds to")


def test_the_folder_is_read_and_a_changed_file_is_read_again(made, folder):
    rows = made.ionosphere()
    with pytest.raises(MissingData, match="351 rows, 34 columns") as absent:
        privcov.source("ionosphere", random_state=0)
    for part in (
        "ionosphere.csv or ionosphere.data",
        str(folder),
        "PRIVCOV_DATA_DIR",
        "python -m replication fetch ionosphere",
    ):
        assert part in str(absent.value)
    assert SOURCES.get("ionosphere").cls.state() == ""
    (folder / "ionosphere.data").write_bytes(made.text(rows))
    first = privcov.source("ionosphere", random_state=0)
    state = SOURCES.get("ionosphere").cls.state()
    rows[0][0] = 0.123456
    (folder / "ionosphere.data").write_bytes(made.text(rows))
    assert SOURCES.get("ionosphere").cls.state() != state
    assert privcov.source("ionosphere", random_state=0).rows[0, 0] == 0.123456 != first.rows[0, 0]
    (folder / "ionosphere.csv").write_bytes(made.text(rows[:3]))  # comes first in the list, and is wrong
    with pytest.raises(ValueError, match=r"ionosphere.csv in .*: this file has 3 rows of 35"):
        privcov.source("ionosphere", random_state=0)


def test_a_file_that_cannot_be_read_or_is_too_large_is_a_sentence(made, folder, monkeypatch):
    (folder / "ionosphere.csv").write_bytes(made.text(["a", "b", "c"]))
    monkeypatch.setattr(papers, "MAX_BYTES", 5)
    with pytest.raises(ValueError, match=r"ionosphere.csv in .*MB, and the limit is"):
        privcov.source("ionosphere", random_state=0)
    (folder / "parkinsons.csv").mkdir()  # no file
    with pytest.raises(MissingData):
        privcov.source("parkinsons", random_state=0)
