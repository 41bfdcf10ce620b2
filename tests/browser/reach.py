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
