"""The style sheet of every page, on top of the theme in .streamlit/config.toml."""

from string import Template

from privcov.plots.matrices import RIGHT, TOP
from privcov.plots.palette import BORDER, CHOSEN, CHOSEN_UNDER_POINTER, DARK, KEY, LIGHT

STYLE = Template("""
<style>
[data-testid="stMainBlockContainer"] {padding-top: 2.2rem; padding-bottom: 3rem; max-width: 2200px;}
@media (min-width: 1600px) {[data-testid="stMainBlockContainer"] {padding-left: 3rem; padding-right: 3rem;}}
/* The page begins beside the header's own buttons: the rest of the header is empty, and takes no click. */
[data-testid="stHeader"], [data-testid="stHeader"] * {pointer-events: none;}
[data-testid="stHeader"] :is(button, a), [data-testid="stHeader"] :is(button, a) * {pointer-events: auto;}
/* Nothing in a closed menu takes the focus. */
[data-testid="stSidebar"][data-collapsed="true"] {visibility: hidden;}
[data-testid="stSidebarHeader"] {height: 1.6rem; padding: 0;}
[data-testid="stSidebarUserContent"] {padding-top: .5rem;}
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] {gap: .55rem;}
[data-testid="stSidebarUserContent"] [data-testid="stPageLink"] a {padding-top: .1rem; padding-bottom: .1rem;}
[data-testid="stSidebarUserContent"] hr {margin: .6rem 0;}
/* A matrix is as high as it is wide, at every window width; the colour bar beside it takes $bar px. */
.stElementContainer[class*="st-key-square-"] {
  aspect-ratio: 1; height: auto !important; flex: none; min-height: 0; margin-bottom: -${bar}px;}
[class*="st-key-square-"] [data-testid="stFullScreenFrame"] {
  height: calc(100% - ${bar}px) !important; min-height: 0 !important;}
[class*="st-key-square-"] [data-testid="stPlotlyChart"] {height: 100% !important; min-height: 0 !important;}
.stElementContainer:has(+ .stElementContainer .pc-ends) [data-testid="stSliderTickBar"] {visibility: hidden;}
.pc-ends {display: flex; justify-content: space-between; font-size: .8rem; opacity: .75; margin-top: -.9rem;}
.pc-name {font-size: 1.5rem; font-weight: 600;}
.pc-group {font-size: .72rem; letter-spacing: .09em; text-transform: uppercase; opacity: .7; margin: .5rem 0 0;}
.pc-tag {display: inline-block; font-size: .72rem; letter-spacing: .04em; padding: .05rem .45rem; border-radius: .6rem;
  border: 1px solid currentColor; opacity: .75; margin-right: .4rem;}
.pc-lines {display: grid; grid-template-columns: minmax(7rem, 1fr) 6fr; gap: .8rem 1rem; padding: 0;
  margin: 0 0 .6rem !important;}
.pc-lines > * {margin: 0 !important; padding: 0 !important; overflow-wrap: anywhere;}
.pc-stillrow {display: flex; gap: .35rem;}
.pc-still {display: block; flex: 1; min-width: 0; aspect-ratio: 1; image-rendering: pixelated;}
.pc-bar {flex: none; width: .6rem; border: 1px solid $key;}
.pc-barmarks {flex: none; position: relative; width: 1.7rem; font-size: .72rem; line-height: 1; opacity: .8;}
.pc-barmarks > span {position: absolute; transform: translateY(50%);}
.pc-keytext {display: flex; justify-content: space-between; font-size: .78rem; opacity: .8;}
.pc-meter {position: relative; height: .9rem; border-radius: .45rem; margin: .25rem 0 .1rem;}
.pc-meter > i {position: absolute; top: -.2rem; width: .28rem; height: 1.3rem; border-radius: .14rem;
  margin-left: -.14rem;}
.pc-line {display: flex; align-items: center; gap: .6rem; font-size: .8rem; white-space: nowrap;}
.pc-line > span:first-child {white-space: normal;}
.pc-line > small {opacity: .75;}
.pc-line > .pc-meter {flex: 1; min-width: 3rem; height: .55rem;}
.pc-line > .pc-meter > i {height: .95rem;}
.pc-answers {display: flex; flex-wrap: wrap; align-items: center; gap: 0 1.5rem; font-size: .8rem;}
.pc-answers > .pc-line {flex: 1 1 16rem;}
.pc-answers :is(b, .pc-chance) {font-size: 1.05rem; font-weight: 600; font-variant-numeric: tabular-nums;
  display: inline-block; min-width: 4.8rem;}
.pc-answers .pc-chance {text-align: right;}
/* What moves with the level while it is dragged lies over what the server drew. */
.pc-moving, [data-moving], .pc-follows [data-number] {display: none;}
.pc-follows :is(.pc-moving, [data-moving]) {display: revert;}
.pc-follows .pc-answers [data-needle][style*="--moving"] {left: var(--moving) !important;}
.pc-stillrow {position: relative;}
.pc-stillrow > .pc-moving {position: absolute; inset: 0 3rem auto 0; width: calc(100% - 3rem);}
.pc-follows .pc-answers [data-needle]:not([style*="--moving"]) {visibility: hidden;}
/* What does not follow the level while it is dragged is blurred, until it belongs to the level again. */
.pc-follows .stMain :is(.stMetric, .stAlert, .stTabs, .st-key-waterfall, .st-key-shares, .st-key-colours,
  .st-key-made-from, .st-key-verdict, .st-key-estimate-attacker, [class*="st-key-square-released-"]),
.pc-follows:has(.st-key-follow-page) [data-testid="stLayoutWrapper"]:has(> .st-key-strip) ~ * {
  filter: blur(.12rem);}
[data-testid="stElementContainer"]:has(:is(.pc-answers, [data-says]):empty), .st-key-hands,
[class*="st-key-follow-"], .st-key-further {position: absolute;}
.pc-said {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);}
/* The page's own header covers what has no title above it. */
.st-key-notices:not(:empty) {margin-top: 1.5rem;}
[class*="st-key-door-"] [data-testid="stPageLink"] a {
  border: 1px solid $edge; background: transparent; padding: .15rem .7rem; border-radius: .3rem;}
[class*="st-key-page-"] [data-testid="stPageLink"] a {padding-left: 0;}
/* The chosen page has a ground; the focus of the keyboard has a ring and no ground, so that the two differ. */
.stPageLink [data-testid="stPageLink-NavLink"]:focus-visible {
  outline: .16rem solid light-dark($ink); outline-offset: -.16rem; background: transparent;}
/* The strip stays below the header while the page scrolls under it; the level is its widest part. */
[data-testid="stLayoutWrapper"]:has(> .st-key-strip) {position: sticky; top: 3.75rem; z-index: 90;}
.st-key-strip {padding: .3rem 0; border-bottom: 1px solid $edge; background: light-dark($paper);}
.st-key-strip > :has(> .st-key-strip-level) {flex: 1 1 16rem !important; min-width: min(16rem, 100%);}
.st-key-strip > :has(> .st-key-strip-answers) {flex: 1 0 100% !important; margin-top: -.6rem;}
/* A heading that is jumped to, and what the keyboard reaches, stops below the strip. */
[data-testid="stMain"]:has(.st-key-strip) {scroll-padding-top: 19.5rem;}
@media (min-width: 1081px) {[data-testid="stMain"]:has(.st-key-strip) {scroll-padding-top: 10.5rem;}}
@media (max-height: 500px) {  /* it would cover most of a low window, as at 200 % */
  [data-testid="stLayoutWrapper"]:has(> .st-key-strip) {position: static;}
  [data-testid="stMain"]:has(.st-key-strip) {scroll-padding-top: 4rem;}
}
[data-testid="stMetricLabel"] p {white-space: normal; line-height: 1.15;}
/* Numbers side by side are equally wide and stand on one line, whether or not their labels wrap. */
[class*="st-key-cards-"] > [data-testid="stElementContainer"] {flex: 1 1 0; min-width: 9.2rem;}
[class*="st-key-cards-"] [data-testid="stMetric"] > div {
  height: 100%; display: flex; flex-direction: column; justify-content: space-between;}
/* The accent that bears white labels is too dark to be read on a dark ground: its text takes the colour of links. */
[data-testid="stSliderThumbValue"] p, [role="tab"][aria-selected="true"] p,
[data-testid="stButtonGroup"] button:is([aria-checked="true"], [aria-pressed="true"]) p {
  color: light-dark($chosen);}
[data-testid="stButtonGroup"] button:is([aria-checked="true"], [aria-pressed="true"]):hover p {  /* a darker ground */
  color: light-dark($pointed);}
/* Why a file was refused stands beside its name, and not under the pointer alone. */
[data-testid="stFileChip"]:has([role="alert"]) {height: auto; flex-wrap: wrap; max-width: 100%;}
[data-testid="stFileChip"] [role="alert"] {
  position: static; width: auto; height: auto; margin: 0 .5rem; clip-path: none; clip: auto; white-space: normal;}
/* A narrow window beside the open menu: columns that would become slivers go below each other. */
@media (max-width: 1080px) {
  [data-testid="stMain"] [data-testid="stHorizontalBlock"] {flex-wrap: wrap;}
  [data-testid="stMain"] [data-testid="stColumn"] {min-width: min(11.5rem, 100%);}
  [data-testid="stMain"] [data-testid="stColumn"]:has(.stPlotlyChart):not(:has([class*="st-key-square-"])) {
    min-width: min(22rem, 100%);}
  /* Matrices side by side go two by two, and one that is left over is no larger than the others. */
  [data-testid="stMain"] [data-testid="stHorizontalBlock"]:has(
    > [data-testid="stColumn"] + [data-testid="stColumn"] > * > [class*="st-key-square-"])
    > [data-testid="stColumn"]:has(> * > [class*="st-key-square-"]) {
    min-width: calc(50% - 1rem); max-width: calc(50% - .5rem);}
  [data-testid="stMain"] [data-testid="stColumn"]:has(.pc-stillrow) {min-width: calc(50% - 1rem);}
  .st-key-strip > :not(:has(> .st-key-strip-level), :has(> .st-key-strip-answers)) {order: 1;}
}
@media screen and (max-width: 640px) {  /* the matrix that follows the level comes first */
  [data-testid="stColumn"]:has(> * > .st-key-square-released) {order: -1;}
  .st-key-named [data-testid="stColumn"] {min-width: 100% !important; max-width: 100% !important;}  /* names are wide */
}
@media (max-width: 1080px) {.pc-line > small {display: none;}}
/* A toolbar opens under the pointer alone; elsewhere its buttons would stand in the way of Tab. */
@media (hover: none) {.modebar-container {display: none !important;}}
.stPlotlyChart:not(:hover) .modebar-container {visibility: hidden;}
@media (max-width: 1080px) {  /* a badge may be longer than a line */
  [data-testid="stMain"] .stMarkdownBadge {white-space: normal !important;}
}
/* Captions fade by colour, not by opacity, which would fade badges and links in them too. */
[data-testid="stCaptionContainer"] {opacity: 1; color: light-dark($quiet);}
/* A dialogue stands outside the app, which alone knows whether it is dark: there captions fade from its own ink. */
[data-testid="stDialog"] [data-testid="stCaptionContainer"] {
  color: color-mix(in srgb, currentColor 75%, transparent);}
/* The browser sends no number beyond its limits, so what is on the page belongs to the one before. These selectors stay
   this plain: each step of a slider makes the browser ask them again. */
body:has(input:out-of-range) .stMain
  :is(.stHtml, .stMarkdown > div, .stPageLink, .stPlotlyChart, .stMetric, .stTable, .stDataFrame, .st-key-ask-wider) {
  visibility: hidden;}
body:has(input:out-of-range) .st-key-ask .stMarkdown > div {visibility: visible;}
body:has(input:out-of-range) .stApp::after {
  content: "A number is outside its limits. What belonged to the one before is hidden.";
  position: fixed; right: 1rem; bottom: 1rem; max-width: calc(100vw - 2rem); z-index: 999990;
  padding: .5rem 1rem; border-radius: .3rem;
  background: light-dark($ink); color: light-dark($ground);}
/* Colours of the system, without grounds: what is chosen gets a line, and what is drawn its own colour. */
@media (forced-colors: active) {
  .stSlider [role="group"] > [data-rac] > :not([data-testid="stSliderTickBar"]), .pc-meter > i {
    forced-color-adjust: none; background: CanvasText !important;}
  .stSlider [role="group"] > [data-rac] > [data-rac] {background: Highlight !important; border: 2px solid CanvasText;}
  .stSlider [data-testid="stSliderThumbValue"] p {color: CanvasText;}
  .pc-meter, .pc-bar {border: 1px solid CanvasText;}
  [data-testid="stButtonGroup"] button:is([aria-checked="true"], [aria-pressed="true"]),
  .st-key-menu a[aria-current] {outline: 2px solid Highlight; outline-offset: -2px;}
  [role="tab"][aria-selected="true"] {border-bottom: 3px solid Highlight;}
}
/* On paper there is no menu, and no chart or card is cut in two. */
@media print {
  [data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stToolbar"] {display: none !important;}
  [data-testid="stPlotlyChart"], [data-testid="stMetric"] {break-inside: avoid;}
  /* On paper Streamlit stacks columns that hold a chart; those that are compared stay side by side. */
  [data-testid="stHorizontalBlock"]:has([data-testid="stPlotlyChart"]) {display: flex !important; flex-wrap: nowrap;}
  [data-testid="stHorizontalBlock"]:has([data-testid="stPlotlyChart"]) > [data-testid="stColumn"]
    {flex: 1 1 0% !important; min-width: 0 !important; width: auto !important;}
}
/* A formula breaks at its relations instead of running out of a narrow column. */
.katex-display {padding-right: .3rem;}  /* letters lean over its edge, which made it a scroll area */
.katex-display > .katex {white-space: normal !important;}
</style>
""").substitute(
    key=KEY,
    bar=RIGHT - TOP,
    edge=BORDER,
    ink=f"{LIGHT.ink}, {DARK.ink}",
    ground=f"{DARK.ink}, {LIGHT.ink}",
    paper=f"{LIGHT.ground}, {DARK.ground}",
    chosen=", ".join(CHOSEN),
    pointed=", ".join(CHOSEN_UNDER_POINTER),
    quiet=f"{LIGHT.quiet}, {DARK.quiet}",
)
