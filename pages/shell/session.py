"""The session of a visit: every key that pages keep in it, its one owner, and what it holds.

A key has one owner, the file or the folder under `pages` that writes it; others at most read it. A field in braces
stands for what varies. Widgets whose state only Streamlit reads are not listed; their keys occur in one page only.
`tests/pages/test_session.py` checks all of this.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """One key of the session.

    ``name`` has {} for what varies, and ``owner`` writes it. ``with_files`` marks a dictionary under (owner, ...) of
    results that are removed with the visitor's file from which they were made.
    """

    name: str
    owner: str
    holds: str
    with_files: bool = False


KEYS = (
    # the page and its address
    Key("study", "shell/frame", "the one current study"),
    Key("study_changed", "shell/frame", "set by a callback: the address follows the study, and does not win"),
    Key("page", "shell/frame", "label of the page that ran last"),
    Key(
        "fresh_page", "shell/frame", "whether another page ran before: its widgets have to be given their values again"
    ),
    Key("within", "shell/frame", "whether the page is shown for the first time after another one of the visit"),
    Key("page_keeps", "shell/frame", "names of settings that the page keeps in its address"),
    Key("page_own", "shell/frame", "by page, its own settings as the address has them"),
    Key("unchecked", "shell/frame", "names of own settings that a link brought and no widget has read yet"),
    Key("address", "shell/frame", "the query that the address should have"),
    Key("address_since", "shell/frame", "time at which it was last written"),
    Key("told", "shell/frame", "the query that the browser sent last"),
    Key("link_problems", "shell/frame", "sentences on the parts of a link that made no sense"),
    Key("problem_place", "shell/frame", "container on top of the page for such sentences"),
    Key("visit", "shell/frame", "name of the visit in the queue of runs"),
    Key("own.seen", "shell/address", "by widget, the text and the value that it showed last"),
    Key("{}.turn", "shell/address", "of a range: counts the keys that its widget has had"),
    Key("{}.now", "shell/address", "of a range: the key that its widget has now"),
    # the shell
    Key("w.source", "shell/strip", "widget: the data set"),
    Key("w.method", "shell/strip", "widget: the method"),
    Key("w.kind", "shell/strip", "widget: the kind of guarantee"),
    Key("w.{}", "shell/strip", "widget: rho, epsilon, delta or the row bound"),
    Key("w.bound", "shell/strip", "widget: the row bound as a multiple of the default"),
    Key("w.seed", "shell/strip", "widget: the noise seed"),
    Key("follow.own", "shell/follow", "releases at a few levels, for the picture that follows", with_files=True),
    Key("sizes", "shell/strip", "n and d of the last source that took them"),
    Key("bound.of", "shell/strip", "the row bound whose multiples the slider shows"),
    Key("w.{}.{}", "shell/strip", "widget: calibration or neighbours of a method"),
    Key("w.{}.{}.{}", "shell/fields", "widget: a parameter of a source or a method"),
    Key("pictures", "shell", "by chart, what the page shows: for the export of figures"),
    Key("pins.number", "shell/pins", "number of the last pin, of any page"),
    Key("token-entry", "shell/owner_token", "widget: the token, emptied as soon as it is read"),
    Key("token-opened", "shell/owner_token", "what a visit holds after it has entered the token"),
    Key("token-problem", "shell/owner_token", "why the last entry did not open"),
    Key("csv", "shell/visitor_files", "the visitor's declared public table"),
    Key("upload", "shell/visitor_files", "the visitor's file: its name, columns and what was typed"),
    Key("upload-turn", "shell/visitor_files", "counts files: a new key empties an uploader"),
    Key("brought", "shell/visitor_files", "by source, a paper's set that the visitor brought"),
    Key("bring-problem", "shell/visitor_files", "by source, why a file was not taken"),
    Key("upload-public", "upload", "widget: whether the file is public"),
    # Estimate, Trade-offs, Graph recovery
    Key("estimate.pins", "estimate", "pinned releases", with_files=True),
    Key("sweeps", "trade_offs/curves", "jobs of the tab Curves", with_files=True),
    Key("tradeoffs.read", "trade_offs/curves", "what finished curves say", with_files=True),
    Key("maps", "trade_offs/who_wins", "jobs of the tab Who wins where"),
    Key("solved", "trade_offs/sentence", "jobs of the measured answers", with_files=True),
    Key("reckoned", "trade_offs", "by set-up, seconds that a search or a map takes"),
    Key("costs", "trade_offs/who_wins", "by method, kind and size, what one run takes"),
    Key("pins", "trade_offs/curves", "pinned curves", with_files=True),
    Key("pins.told", "trade_offs/curves", "whether a new pin has not been confirmed on the page yet"),
    Key("tradeoffs.told", "trade_offs/store", "whether the page has said that the store does not work"),
    Key("roc", "graph_recovery/roc", "jobs of the ROC curves", with_files=True),
    Key("roc.drawn", "graph_recovery/roc", "by job, its curves and pictures"),
    Key("graph.methods.{}", "graph_recovery", "widget: other methods, by kind of guarantee"),
    Key("graph.levels.{}", "graph_recovery", "widget: other levels, by kind of guarantee"),
    Key("graph.replicates", "graph_recovery", "widget: replicates of the curves"),
    Key("graph.rules", "graph_recovery", "widget: whether every rule for lambda is marked"),
    Key("graph.reference", "graph_recovery/settings", "widget: the published network"),
    Key("graph.start", "graph_recovery", "set by a button after which curves start unasked"),
    Key("graph.told", "graph_recovery/settings", "the preset that was chosen, and what it is"),
    Key("graph.large", "graph_recovery/settings", "the study whose large path was asked for"),
    Key("graph.states", "graph_recovery/board", "by study and lambda, which edges are undecided"),
    Key("graph.quiet", "graph_recovery/matrices", "by study and lambda, the matrix without noise"),
    Key("graph-tab", "graph_recovery", "widget: the open tab"),
    # Your data: everything that begins with own goes when the file is forgotten
    Key("own", "your_data/state", "the table: unread bytes, declaration, plan"),
    Key("own-step", "your_data", "widget: the step"),
    Key("own-next", "your_data", "the step that a button asked for"),
    Key("own-{}-{}-{}", "your_data/state", "widget: by name, file and turn of the form"),
    Key("own-shown-{}", "your_data/answers", "by release, what begins the keys of its widgets in Answers"),
    Key("own-stored-{}-{}", "your_data/answers", "widget: which release"),
    Key("own-opened", "your_data/answers", "the opened release, by its token in the ledger"),
    Key("door", "your_data", "widget: whether a table is released or a bundle is read"),
    Key("read-bundle", "your_data/read_bundle", "the bundle that passed the check, and what was chosen for it"),
    Key("read-problem", "your_data/read_bundle", "why a bundle did not pass the check"),
    Key("read-turn", "your_data/read_bundle", "counts bundles: a new key empties the uploader"),
    Key("read-file-{}", "your_data/read_bundle", "widget: the file"),
    Key("read-shown-{}", "your_data/read_bundle", "by bundle, what begins the keys of its widgets in Answers"),
    Key("own-agreed", "your_data/release", "what was confirmed and is not carried out yet"),
    Key("own-previews", "your_data/plan_table", "previews of plans, by table and guarantee"),
    Key("own-found", "your_data/plan", "the level that was found for a wanted accuracy"),
    # Learn
    Key("lesson-number", "lessons", "widget: the lesson"),
    Key("lesson-part", "lessons", "widget: lessons, demonstrations or sheets for a class"),
    Key("teach-base", "lessons", "widget: the address at which a class finds the workbench"),
    Key("demo-choice", "lessons", "widget: the demonstration"),
    Key("lesson_answers", "lessons", "by lesson, the answer that was checked"),
    Key("lesson_unanswered", "lessons", "a press on Check before an answer was picked"),
    Key("lesson_games", "lessons", "the rounds of the game"),
    Key("methods.tab", "methods", "widget: the open tab"),
    Key("published.table", "published/opened", "widget: the table or figure that is open"),
    Key("published.tab", "published/opened", "widget: the open tab"),
    Key("audits", "audit/live", "jobs of the live audit"),
    Key("sampler-turns", "audit/sampler", "by set-up, how often samplers were drawn from again"),
)
WITH_FILES = tuple(key.name for key in KEYS if key.with_files)
