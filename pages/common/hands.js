// What keys and screen readers need and Streamlit has no setting for: names, the menu as a navigation, the focus after a
// popover opens or its element goes, and a status region that says new answers.
const FIELDS = ":is(input, textarea, [role=radio], button):not(:disabled, [tabindex='-1'], [aria-label^='Help'])";
const QUIET = 400; // milliseconds after the last key or click before which nothing is said
const here = () => location.pathname.split("/").at(-1);
const all = (selector) => [...document.querySelectorAll(selector)];
const texts = (elements) => new Set(elements.map((one) => one.textContent));
const headings = () => all("[data-testid=stMain] :is(h1, h2, h3)").filter((one) => one.checkVisibility());

const answers = () => all("[data-says]").map((one) => one.dataset.says);

let [timer, last, opening, before, said, page] = [0, null, false, new Set(), [], null]; // another page mounts it again

export default function () {
  const app = document.querySelector("[data-testid=stApp]");
  const region = document.querySelector(".pc-said") ?? document.createElement("div");
  region.className = "pc-said";
  region.setAttribute("role", "status");
  app.append(region);

  const tidy = () => {
    for (const input of all(".stSlider input[aria-label][aria-labelledby]")) input.removeAttribute("aria-labelledby");
    for (const step of all("[data-testid=stNumberInputContainer] button")) {
      const field = step.closest("[data-testid=stNumberInputContainer]").querySelector("input").ariaLabel;
      const name = `${step.dataset.testid.endsWith("Up") ? "Increment" : "Decrement"} ${field}`;
      if (field && step.ariaLabel !== name) step.ariaLabel = name;
    }
    for (const svg of all(".stPlotlyChart .main-svg:not([aria-hidden])")) svg.ariaHidden = "true"; // the figure has a name
    const menu = document.querySelector(".st-key-menu");
    menu?.setAttribute("role", "navigation");
    menu?.setAttribute("aria-label", "Pages");
    for (const link of all(".st-key-menu a"))
      link.ariaCurrent = link.getAttribute("href").split("?")[0] === here() ? "page" : null;
    const field = opening && document.querySelector(`[data-testid=stPopoverBody] ${FIELDS}`);
    if (field) {
      opening = false;
      field.focus();
    }
  };
  const settled = () => {
    timer = 0;
    if (app.dataset.testScriptState !== "notRunning") return;
    if (page === here()) {
      const fresh = answers().filter((one) => !said.includes(one)).join(" ");
      if (fresh) region.textContent = fresh;
      said = answers();
    } else page = null; // nobody has done anything on this page
    if (!last || document.activeElement !== document.body || (last.isConnected && !last.disabled)) return;
    last = null;
    const heading = headings().find((one) => !before.has(one.textContent)) ?? headings()[0];
    heading?.setAttribute("tabindex", "-1");
    heading?.focus();
  };
  const look = () => {
    tidy();
    timer ||= setTimeout(settled, QUIET);
  };
  const asked = ({ type, target }) => {
    if (type === "focusin") last = target;
    else {
      before = texts(headings());
      if (page !== here()) [said, page] = [answers(), here()];
    }
    if (type === "click") opening = Boolean(target.closest?.("[data-testid=stPopover] button"));
    timer = clearTimeout(timer);
    look();
  };
  const kinds = ["focusin", "pointerdown", "keydown", "click", "change"];
  for (const kind of kinds) document.addEventListener(kind, asked, true);
  const watch = new MutationObserver((changes) => {
    if (changes.some(({ target }) => target !== region)) look();
  });
  watch.observe(document.body, { childList: true, subtree: true, attributeFilter: ["data-test-script-state", "data-says"] });
  look();
  return () => {
    for (const kind of kinds) document.removeEventListener(kind, asked, true);
    watch.disconnect();
    timer = clearTimeout(timer);
  };
}
