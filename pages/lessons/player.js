// The player of a lesson: its pictures, numbers and sentence at every place of its control were computed before, so that
// all of them follow the finger and nothing is asked of a server. The page and the folder of files play the same data.
const ANSWERS = "privcov-lesson-answers";
const MANY = 400; // milliseconds between two draws
const ANSWERED = 3000; // milliseconds in which a server has answered a key
const part = (name, ...inside) => {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag);
  made.className = classes.join(" ");
  made.append(...inside.flat());
  return made;
};
const rich = (name, markup) => Object.assign(part(name), { innerHTML: markup });
const button = (words, act, name = "button") => {
  const made = part(name, words);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
};
const texts = ({ pieces, parts }) => parts.map((list) => list.map((index) => pieces[index]).join(""));
const stored = (name, value) => {
  try {
    if (value !== undefined) sessionStorage.setItem(name, JSON.stringify(value));
    return JSON.parse(sessionStorage.getItem(name)) ?? {};
  } catch {
    return {}; // a browser that stores nothing
  }
};

function play(data, root, server) {
  let [at, draw, timer, sent] = [0, 0, 0, data.heard ?? 0];
  const [shows, written] = [data.shows, texts(data)];
  const last = data.places.length - 1;
  const made = new Map();
  const [box, show, said] = [part("div.pl-box"), part("div.pl-show"), part("div.pl-said")];
  said.setAttribute("role", "status");

  // One element for each picture and sentence, made when it is first shown, so that no picture is decoded twice.
  const put = (place, index) => {
    if (!made.has(index)) {
      const fresh = rich("div.pl-part", written[index]);
      const drawings = [...fresh.querySelectorAll(":scope > .row")];
      const heights = drawings.map((row) => Math.max(...[...row.querySelectorAll("svg")].map((one) => one.viewBox.baseVal.height)));
      const all = heights.reduce((sum, height) => sum + height, 0);
      drawings.forEach((row, k) => row.style.setProperty("--share", heights[k] / all));
      made.set(index, fresh);
      place.append(fresh);
    }
    for (const other of place.children) other.hidden = other !== made.get(index);
  };
  const paint = () => {
    const [pictures, words] = shows[draw % shows.length][at];
    put(show, pictures);
    put(said, words);
    box.dataset.at = at;
    box.dataset.draw = draw % shows.length;
    range.value = at;
    range.ariaValueText = output.textContent = data.places[at];
    less.disabled = at === 0;
    more.disabled = at === last;
  };
  const go = (place) => {
    at = Math.min(last, Math.max(0, place));
    paint();
  };
  // The address names the place, so that a copied link opens what is seen; the server writes it, where there is one.
  const tell = () => {
    game?.begin();
    if (server) return server("at", [++sent, at, data.key]);
    const lever = at === data.start ? "" : `?lever=${encodeURIComponent(data.values[at])}`;
    try {
      history.replaceState(null, "", location.pathname + lever);
    } catch {} // a file whose address may not change
  };
  const step = (by) => {
    go(at + by);
    tell();
  };
  const told = () => {
    if (server) return data.at;
    const found = data.values.indexOf(new URLSearchParams(location.search).get("lever"));
    return found < 0 ? data.start : found;
  };

  let held = 0;
  const range = part("input");
  Object.assign(range, { type: "range", min: 0, max: last, id: "lesson-lever" });
  range.addEventListener("input", () => go(Number(range.value)));
  range.addEventListener("change", tell);
  // Dragged by hand it gives the keys back to the lesson: arrows and a clicker then turn the page.
  range.addEventListener("pointerup", () => setTimeout(() => range.blur()));
  // A swipe that begins on the control scrolls the page, and leaves the control where it was.
  range.addEventListener("pointerdown", () => (held = at));
  range.addEventListener("pointercancel", () => go(held));
  const output = part("output");
  output.setAttribute("for", range.id);
  const label = part("label", data.label);
  label.htmlFor = range.id;
  label.title = data.help;
  const less = button(data.left, () => step(-1), "button.pl-less");
  const more = button(data.right, () => step(1), "button.pl-more");

  const again = button("Draw again", () => {
    draw += 1;
    paint();
  });
  const many = button("Many draws", () => {
    timer = timer ? clearInterval(timer) : setInterval(() => box.isConnected ? again.click() : clearInterval(timer), MANY);
    many.setAttribute("aria-pressed", Boolean(timer));
  });
  const draws = part("div.pl-draws", again, many);
  const drawable = () => (draws.hidden = shows.length < 2);

  const onward = data.onward && server ? button(data.onward, () => server("onward", at), "button.pl-onward") : [];
  const reason = part("div.pl-reason");
  reason.setAttribute("role", "status");
  const answers = data.choices.map((choice, k) => button(choice.text, () => answer(k), "button.pl-answer"));
  const answer = (k) => {
    const { right, reason: why } = data.choices[k];
    answers.forEach((one, j) => one.setAttribute("aria-pressed", j === k));
    reason.className = `pl-reason ${right ? "pl-right" : "pl-wrong"}`;
    reason.innerHTML = `<p><b>${right ? "Right." : "Not this one."}</b> ${why}</p>` + (right ? `<p><b>To remember:</b> ${data.remember}</p>` : "");
    stored(ANSWERS, { ...stored(ANSWERS), [data.number]: k });
  };
  const before = stored(ANSWERS)[data.number];

  const isFull = () => document.documentElement.classList.contains("pl-full");
  const full = button("", () => fill(!isFull()));
  full.title = "F";
  const link = button("Copy link", async () => {
    await navigator.clipboard?.writeText(location.href);
    link.textContent = navigator.clipboard ? "Copied" : location.href;
  });
  const name = () => (full.textContent = isFull() ? "Leave full screen" : "Full screen");
  if (!server && sessionStorage.getItem("pl-full")) document.documentElement.classList.add("pl-full");
  name();
  const fill = (on) => {
    document.documentElement.classList.toggle("pl-full", on);
    if (!server) sessionStorage.setItem("pl-full", on ? 1 : ""); // a file is a page of its own, the next one too
    name();
    if (on) document.documentElement.requestFullscreen?.().catch(() => {}); // not without a hand on key or mouse
    else if (document.fullscreenElement) document.exitFullscreen();
  };

  const game = data.game && vote(data.game, () => at, (index) => data.game.limits[index]);
  const ask = part("div.pl-ask", rich("p.pl-question", data.question), answers, reason);
  const lever = part("div.pl-lever", part("p", label, " ", output), range, part("div.pl-ends", less, draws, more));
  const left = part("div.pl-see", game ? game.box : [], show, lever);
  const right = part("div.pl-think", said, data.question ? ask : [], onward);
  const tools = part("div.pl-tools", full, location.protocol === "file:" ? [] : link);
  box.append(tools, rich("div.pl-aim", data.aim), part("div.pl-columns", left, right));
  root.replaceChildren(box);
  if (before !== undefined && answers[before]) answer(before);
  drawable();
  go(told());
  game?.begin();

  // Quick keys go on from the lesson that was asked for last, which may not be there yet.
  const turn = (by) => {
    if (!server) return document.querySelector(`a[rel=${by > 0 ? "next" : "prev"}]`)?.click();
    if (!data.order) return;
    const last = data.order.length - 1;
    wanted = Math.min(last, Math.max(0, (asked() ?? data.order.indexOf(data.number)) + by));
    since = Date.now();
    server("lesson", [++turns, data.order[wanted]]);
  };
  const keys = {
    ArrowUp: () => step(1),
    ArrowDown: () => step(-1),
    PageDown: () => turn(1),
    PageUp: () => turn(-1),
    ArrowRight: () => turn(1),
    ArrowLeft: () => turn(-1),
    f: () => full.click(),
    ...game?.keys,
  };
  return {
    key: data.key,
    press: (event) => {
      const typing = event.target.closest?.("textarea, select, [contenteditable], input:not([type=range])");
      const sliding = event.target === range && event.key.startsWith("Arrow");
      const choosing = event.target.closest?.("[role=radiogroup]") && ["ArrowLeft", "ArrowRight"].includes(event.key);
      const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (event.key === "Escape" && isFull()) return fill(false);
      if (!act || typing || sliding || choosing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    },
    left: () => document.fullscreenElement || fill(false),
    more: (others) => {
      const from = written.length;
      written.push(...texts(others));
      shows.splice(1, shows.length, ...others.shows.map((places) => places.map((pair) => pair.map((index) => index + from))));
      drawable();
    },
    again: (place, heard) => heard >= sent && go(place), // else the server has not heard of the last step
  };
}

// The vote of the last lesson: the browser tosses the coin, draws the noise and keeps the score.
function vote(game, place, limit) {
  const SCORE = "privcov-lesson-score";
  const [a, b] = game.tables;
  const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  const side = Math.sqrt(game.entry.length);
  const table = (name) => part("figure", part("figcaption", name), part("div.pl-cells", game.entry.map(() => part("span"))));
  const seen = ["A, exact", "B, exact", "released"].map(table);
  seen.forEach((one) => one.lastChild.style.setProperty("--side", side));
  const said = part("p");
  said.setAttribute("role", "status");
  let [sigma, truth, nats] = [1, 0, 0];
  let score = { votes: 0, right: 0, best: 0, played: 0 };
  const paint = (one, numbers) => [...one.lastChild.children].forEach((cell, k) => {
    const x = numbers[game.entry[k]];
    const shade = Math.round(200 * Math.min(Math.abs(x) / game.most, 1));
    cell.textContent = x.toFixed(2);
    cell.style.background = (x < 0 ? game.below : game.above) + shade.toString(16).padStart(2, "0");
  });
  const toss = () => {
    truth = Math.random() < 0.5 ? 0 : 1;
    const release = game.tables[truth].map((x) => x + sigma * normal());
    nats = release.reduce((sum, m, k) => sum + ((m - b[k]) ** 2 - (m - a[k]) ** 2) / (2 * sigma ** 2), 0);
    return release;
  };
  const best = () => Number((nats < 0 ? 1 : 0) === truth);
  const scores = () => {
    const parts = [];
    if (score.votes) parts.push(`You: ${score.right} of ${score.votes} right.`);
    if (score.played) parts.push(`The optimal attacker: ${score.best} of ${score.played}.`);
    return `${parts.join(" ")} The limit in the long run: ${limit(place())}.`;
  };
  const keep = () => stored(SCORE, { ...stored(SCORE), [place()]: score });
  const voting = (now) => {
    [...votes].forEach((one) => (one.disabled = !now));
    next.disabled = now;
  };
  const deal = () => {
    paint(seen[2], toss());
    said.textContent = `Which table is the release closer to, in the mean squares of sleep and marks? Vote. ${scores()}`;
    voting(true);
  };
  const cast = (k) => {
    score.votes += 1;
    score.played += 1;
    score.right += Number(k === truth);
    score.best += best();
    said.textContent = `It was ${game.names[truth]}, and you said ${game.names[k]}. ${scores()}`;
    voting(false);
    keep();
  };
  const votes = game.names.map((name, k) => button(`It was ${name}`, () => cast(k)));
  const next = button("Next release", deal);
  const hundred = button("Attacker plays 100", () => {
    for (let k = 0; k < 100; k++) {
      toss();
      score.played += 1;
      score.best += best();
    }
    keep();
    deal();
  });
  const fresh = button("New game", () => {
    score = { votes: 0, right: 0, best: 0, played: 0 };
    keep();
    deal();
  });
  seen.slice(0, 2).forEach((one, k) => paint(one, game.tables[k]));
  return {
    box: part("div.pl-vote", part("p.tag", "Simulated: this page tosses the coin and draws the noise, anew at every visit."), part("div.row", seen), part("p.pl-buttons", votes, next, hundred, fresh), said),
    begin: () => {
      sigma = game.sigmas[place()];
      score = stored(SCORE)[place()] ?? { votes: 0, right: 0, best: 0, played: 0 };
      deal();
    },
    keys: { a: () => votes[0].click(), b: () => votes[1].click(), n: () => next.click() },
  };
}

// The lesson that keys asked for last, by its place in the order, while older answers may still be on their way.
let [player, wanted, since, turns] = [null, null, 0, 0];
const asked = () => (wanted = Date.now() - since < ANSWERED ? wanted : null);
for (const other of ["pointerdown", "popstate"]) addEventListener(other, () => (wanted = null));
export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  if (data.more) return player?.key === data.key && player.more(data);
  const server = setStateValue && ((name, value) => (name === "onward" ? setTriggerValue : setStateValue)(name, value));
  if (asked() !== null && data.number !== data.order?.[wanted]) server("lesson", [++turns, data.order[wanted]]); // overtaken
  if (player?.key === data.key && player.root.isConnected) return player.again(data.at, data.heard);
  const root = parentElement.querySelector(".pl");
  player = Object.assign(play(data, root, server), { root });
  window.privcovLesson?.abort();
  window.privcovLesson = new AbortController();
  const { signal } = window.privcovLesson;
  document.addEventListener("keydown", (event) => player.root.isConnected && player.press(event), { signal });
  document.addEventListener("fullscreenchange", () => player.root.isConnected && player.left(), { signal });
}
