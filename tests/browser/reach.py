"""Whether the mouse reaches what a page offers: the element under the centre of every control is the control itself."""

from __future__ import annotations

from dataclasses import dataclass

# A control is looked at where the page scrolls it to. A label stands for the box it draws, a slider's handle for the
# slider; a field is reached through anything inside its own widget. What comes out only at the Tab key, or while the
# mouse is over its figure, is left alone.
LOOK = """() => {
    const kinds = 'button, a[href], input, select, textarea, summary, [role=button], [role=tab], [role=radio], '
        + '[role=switch], [role=checkbox], [role=combobox], [role=slider], [role=menuitem], [role=option]';
    const name = e => (e.getAttribute('aria-label') || e.innerText || e.value || e.className || '').toString()
        .trim().slice(0, 40);
    const shown = e => e.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true})
        && !e.closest('[data-testid=stSidebar][data-collapsed=true], [data-testid=stElementToolbar], [inert]')
        && !e.matches('[href^="#"]');
    const found = {count: 0, dead: []};
    for (const e of document.querySelectorAll(kinds)) {
        if (!shown(e) || e.disabled || e.matches('[type=file]')) continue;
        const label = e.matches('input[type=radio], input[type=checkbox], [role=switch]') && e.closest('label');
        const at = label || (e.type === 'range' ? e.parentElement : e);
        const field = label || !e.matches('button, a, summary, [role=button], [role=tab]');
        const around = field ? at.closest('[data-testid=stElementContainer]') || at.parentElement : at;
        at.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
        const box = [...at.getClientRects()].find(r => r.width > 0 && r.height > 0);
        if (!box) continue;
        found.count += 1;
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        const hit = document.elementFromPoint(x, y);
        if (hit && around.contains(hit)) continue;
        const over = hit ? hit.closest('[data-testid]')?.dataset.testid || hit.tagName : 'the window ends before it';
        found.dead.push(`${e.tagName.toLowerCase()} ${name(e)} (${Math.round(x)}, ${Math.round(y)}): ${over}`);
    }
    document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0);
    return found;
}"""


@dataclass(frozen=True)
class Reached:
    """count: controls that are visible and enabled. dead: those that something else covers, and what does."""

    count: int
    dead: list[str]


def reached(page) -> Reached:
    """What the mouse reaches on the page as it stands, each control after it was scrolled into view."""
    return Reached(**page.evaluate(LOOK))


# Words in the first screen, without charts, controls and the strip, and what can be moved, typed or pressed there.
FIRST_SCREEN = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const inside = r => r.width > 0 && r.height > 0 && r.top < innerHeight && r.bottom > 0;
    const seen = e => e.checkVisibility({visibilityProperty: true, opacityProperty: true});
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), words = [];
    while (walker.nextNode()) {
        const text = walker.currentNode, range = document.createRange();
        range.selectNodeContents(text);
        if (seen(text.parentElement) && inside(range.getBoundingClientRect())
            && !text.parentElement.closest(
                'svg, style, button, label, [class*=st-key-strip], [data-testid=stIconMaterial]'))
            words.push(...text.textContent.split(/\\s+/).filter(word => /[a-z]/i.test(word)));
    }
    const groups = [...main.querySelectorAll('[data-testid=stButtonGroup], [role=tablist], .stNumberInput, .stSlider')];
    const single = [...main.querySelectorAll('button, input, textarea, [role=combobox], summary')].filter(e =>
        !groups.some(group => group.contains(e)) && !e.closest('.js-plotly-plot, [data-testid=stTooltipIcon]'));
    return [words.length, [...groups, ...single].filter(e => seen(e) && inside(e.getBoundingClientRect())).length];
}"""


def first_screen(page) -> tuple[int, int]:
    """The words and the controls of the window as the page opens."""
    words, controls = page.evaluate(FIRST_SCREEN)
    return words, controls
