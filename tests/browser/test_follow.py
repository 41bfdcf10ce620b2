"""The released matrix follows the level under the mouse, without the server."""

import itertools
import statistics

import numpy as np
import pytest

from pages.common import follow
from tests.browser.test_journeys import chart_words
from tests.exhaustive import some_of
from tests.patience import patient

# Of each redraw, when it came; one pointer event per frame, which is the most that a real mouse makes of a frame.
DRAG = """([images, x, y, width, time]) => new Promise(done => {
    const times = [], begun = performance.now();
    const seen = new MutationObserver(changes => {
        if (changes.some(c => ['src', 'href'].includes(c.attributeName))) times.push(performance.now());
    });
    seen.observe(document.querySelector(images.split(' ')[0]), {attributes: true, subtree: true});
    const step = now => {
        const spent = now - begun;
        if (spent > time) { seen.disconnect(); done(times); return; }
        const clientX = x + width * Math.sin(spent / 150);
        window.dispatchEvent(new PointerEvent('pointermove', {clientX, clientY: y, pointerType: 'mouse', pointerId: 1,
            bubbles: true, buttons: 1, isPrimary: true}));
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
})"""
# What is seen: the moving picture over the server's own, or the latter.
SEEN = """images => [...document.querySelectorAll(images)].filter(i => i.checkVisibility()
    && !(i.nextElementSibling?.classList.contains('pc-moving') && i.nextElementSibling.checkVisibility()))
    .map(i => i.src ?? i.getAttributeNS('http://www.w3.org/1999/xlink', 'href')).join()"""
TITLES = """() => [...document.querySelectorAll('.st-key-lesson-three-cut .annotation-text')]
    .filter(t => t.checkVisibility({visibilityProperty: true})).map(t => t.textContent)"""
# Where the server's own cells, titles and outlines lie: how far from the left, top, right and bottom of their chart.
LAID = """() => [...document.querySelectorAll('.st-key-lesson-screen .js-plotly-plot')].map(chart => {
    const from = chart.getBoundingClientRect();
    const parts = 'image, .annotation-text, .textpoint text, .point, .shapelayer path';
    return [...chart.querySelectorAll(`:is(${parts}):not(.pc-moving)`)].map(part => {
        const {left, top, right, bottom} = part.getBoundingClientRect();
        return [left - from.left, top - from.top, from.right - right, from.bottom - bottom].map(Math.round);
    });
})"""
BLURRED = """one => {
    for (; one; one = one.parentElement) if (getComputedStyle(one).filter.includes('blur')) return true;
}"""
# Without patterns of the columns a drag changes the picture by more than its shades.
SMOOTH = "/Estimate?kind=approx&data.d=40&data.n=5000&method.structure=off"
WINE = "/Estimate?source=wine&kind=approx&epsilon=8"  # correlations
PAGES = {
    "/": ".st-key-released img",
    "/Estimate": ".st-key-square-released image",
    "/Estimate?kind=zcdp&data.d=100&data.n=5000": ".st-key-square-released image",
    SMOOTH: ".st-key-square-released image",
    WINE: ".st-key-square-released image",
}


# The pixels of the image that is seen, and the numbers and the needle beside the level.
PIXELS = """async images => {
    const seen = [...document.querySelectorAll(images)].filter(i => i.checkVisibility()).at(-1);
    const image = new Image();
    image.src = seen.src ?? seen.getAttributeNS('http://www.w3.org/1999/xlink', 'href');
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), {width: image.width, height: image.height});
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    return [...pen.getImageData(0, 0, image.width, image.height).data];
}"""
NEEDLE = "() => getComputedStyle(document.querySelector('.pc-answers [data-needle]')).left"


def numbers(page) -> list[float]:
    """Error and attacker's chance as they are read, and the needle's place, percent and pixels."""
    shown = page.locator(".pc-answers :is([data-number], [data-moving])").filter(visible=True).all_inner_texts()
    seen = [float(text.strip("≈ %\u00a0").replace(",", "")) for text in shown]
    return [*seen, float(page.evaluate(NEEDLE).removesuffix("px"))]


def thumb(page) -> tuple[float, float]:
    """The middle of the slider's thumb."""
    box = page.locator(".st-key-strip-level [data-testid=stSliderThumbValue]").locator("..").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def answers(page) -> str:
    return page.locator(".pc-answers").inner_text()


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[] if path == "/Estimate" else pytest.mark.deep) for path in PAGES]
)
def test_thirty_pictures_a_second_and_nothing_sent_until_the_button_is_let_go(visit, settle, path):
    """Half of the redraws come within a thirtieth of a second after the one before, on a quiet machine."""
    images, sent = PAGES[path], []
    page = visit(path)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.webSocketFrameSent", lambda frame: sent.append(frame))  # noqa: PLW0108 - Playwright marks the function
    x, y = thumb(page)
    page.mouse.move(x, y)
    page.mouse.down()
    times = page.evaluate(DRAG, [images, x, y, 90, patient(1000)])
    gaps = [later - sooner for sooner, later in itertools.pairwise(times)]
    assert len(gaps) > 10
    assert statistics.median(gaps) <= patient(1000 / 30)
    page.mouse.move(x + 60, y, steps=2)  # wherever the last frame of the drag was
    page.wait_for_function("() => document.querySelector('.pc-answers').innerText.includes('≈')")
    dragged = page.evaluate(SEEN, images)
    assert not sent
    page.mouse.up()
    page.wait_for_function("() => !document.querySelector('.pc-answers').innerText.includes('≈')")
    settle(page)
    assert sent
    assert page.evaluate(SEEN, images) != dragged, "the method's own release, not one between two levels"


@pytest.mark.parametrize("path", some_of(["/", "/Estimate"], 1))
def test_back_where_it_began_everything_is_as_it_was(visit, settle, path):
    """With a real mouse there and back, and by key to a level and back."""
    page, images = visit(path), PAGES[path]
    before, picture = answers(page), page.evaluate(SEEN, images)
    x, y = thumb(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y, steps=4)
    page.wait_for_function("() => document.querySelector('.pc-answers').innerText.includes('≈')")
    assert page.evaluate(SEEN, images) != picture
    page.mouse.move(x, y, steps=4)
    page.wait_for_function("text => document.querySelector('.pc-answers').innerText === text", arg=before)
    assert page.evaluate(SEEN, images) == picture
    assert page.locator(".pc-follows").count() == 0
    page.mouse.up()
    lever = page.get_by_role("slider", name="Epsilon").first
    words = chart_words(page, images.split()[0].removeprefix(".st-key-"))
    for key, same in (("ArrowRight", False), ("ArrowLeft", True)):
        lever.press(key)
        settle(page)
        assert (answers(page) == before) is same
        assert (chart_words(page, images.split()[0].removeprefix(".st-key-")) == words) is same
    assert page.evaluate(SEEN, images) == picture


@pytest.mark.parametrize("width", [390, 1280])
def test_level_numbers_and_picture_stand_on_the_first_screen(visit, width):
    for path, images in list(PAGES.items())[:2]:
        page = visit(path, width=width, height=844 if width == 390 else 800)
        for part in (".st-key-strip-level", ".pc-answers", images):
            box = page.locator(part).first.bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= page.viewport_size["height"], (path, part)


@pytest.mark.parametrize(
    ("path", "lever", "first", "second"),
    [
        ("/Graph_recovery", "strip-level", ".st-key-network", ".st-key-roc"),
        ("/Spectra", "strip-level", ".st-key-spectrum", "text=Noise pushes eigenvalues apart"),
    ],
)
def test_what_cannot_follow_is_blurred_while_its_control_is_dragged(visit, settle, path, lever, first, second):
    page = visit(path)
    at = page.locator(f".st-key-{lever} [data-testid=stSliderThumbValue]").locator("..").bounding_box()
    page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    page.mouse.down()
    page.mouse.move(at["x"] - 60, at["y"] + at["height"] / 2, steps=4)
    page.wait_for_function("() => document.querySelector('.pc-follows')")
    for stale in (first, second):
        assert page.locator(".stMain").locator(stale).first.evaluate(BLURRED), stale
    numbers = page.locator(".pc-answers :is(b, .pc-chance)").all_inner_texts()
    assert set(numbers) <= {"\u2026"}, "no number of another level"
    page.mouse.up()
    settle(page)
    page.wait_for_function("() => !document.querySelector('.pc-follows')")


def test_quick_keys_leave_the_numbers_of_the_level_that_was_answered(visit, settle):
    """There and back faster than the server answers, at a level whose errors differ much."""
    page = visit("/?kind=approx&epsilon=0.015")
    lever = page.get_by_role("slider", name="Epsilon").first
    said = {}
    for _ in range(6):
        lever.focus()
        for key in ("ArrowRight", "ArrowLeft") * 3:
            page.keyboard.press(key)
            page.wait_for_timeout(45)
        settle(page)
        page.wait_for_function("() => !document.querySelector('.pc-follows')")
        assert "≈" not in answers(page)
        level = page.locator(".pc-answers").get_attribute("data-level")
        if level not in said:
            said[level] = answers(visit(f"/?kind=approx&epsilon={level}"))
            page.bring_to_front()
        assert answers(page) == said[level]


def test_a_level_with_the_same_release_shows_it(visit, settle):
    """At both levels the answer is zero, so that plotly has nothing to draw anew."""
    page, images = visit("/Estimate?source=wine&kind=approx&epsilon=0.25"), PAGES["/Estimate"]
    picture = page.evaluate(SEEN, images)
    for key in ("ArrowRight", "ArrowLeft"):
        page.get_by_role("slider", name="Epsilon").first.press(key)
        settle(page)
        page.wait_for_function("() => !document.querySelector('.pc-follows')")
        shown = page.evaluate(SEEN, images)
        assert shown == page.evaluate(SEEN, images.replace("image", "image:not(.pc-moving)"))
    assert shown == picture


@pytest.mark.parametrize(("path", "steps"), [("/", 2), ("/Estimate", -4), (SMOOTH, 3), (WINE, 1)])
def test_what_is_drawn_is_what_the_server_would_draw(visit, settle, path, steps):
    """At a level that was computed but for a shade; in between at most a fifth of what the drag changed is off."""
    page, images = visit(path), PAGES[path]
    start = np.array(page.evaluate(PIXELS, images), float)
    lever = page.get_by_role("slider", name="Epsilon").first
    at, last = (int(lever.get_attribute(name)) for name in ("value", "max"))
    track = page.locator(".st-key-strip-level [data-testid=stSliderTickBar]").bounding_box()
    x, y = thumb(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + steps * track["width"] / last, y, steps=6)
    page.wait_for_function(
        "to => document.querySelector('.st-key-strip-level input').value === to", arg=str(at + steps)
    )
    page.wait_for_function("() => document.querySelector('.pc-answers').dataset.drawn"
                           " === document.querySelector('.st-key-strip-level input').ariaValueText")  # fmt: skip
    moving, said = np.array(page.evaluate(PIXELS, images), float), numbers(page)
    page.mouse.up()
    settle(page)
    page.wait_for_function("() => !document.querySelector('.pc-follows')")
    answered, exact = np.array(page.evaluate(PIXELS, images), float), numbers(page)
    assert len(said) == 3
    computed = at + steps in {round(k) for k in np.linspace(0, last, follow.LEVELS)}
    if computed:
        assert abs(moving - answered).max() <= 6
        assert said == pytest.approx(exact, rel=0.01)
    else:
        assert abs(moving - answered).mean() < abs(start - answered).mean() / 5
        assert said == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("path", ["/", "/Estimate"])
def test_the_moving_picture_stays_on_the_one_below_it_at_every_width(visit, settle, path):
    page = visit(path)
    x, y = thumb(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y, steps=4)
    for width in (1280, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            """() => {const over = document.querySelector('.pc-moving');
            const [a, b] = [over, over?.previousElementSibling].map(e => e?.getBoundingClientRect());
            return a?.width > 50 && ['x', 'y', 'width', 'height'].every(name => Math.abs(a[name] - b[name]) < 1);}"""
        )
    page.mouse.up()
    settle(page)
