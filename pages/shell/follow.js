// Redraws matrices and numbers while their lever is dragged, at places that were computed before, or between them. The
// server hears of the lever when the finger lifts, and its answer replaces all of this.
const XLINK = "http://www.w3.org/1999/xlink"; // where plotly keeps the source of an image
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

export default function (given) {
  const data = JSON.parse(new TextDecoder().decode(given.data));
  const { places, numbers } = data;
  const pictures = data.pictures.map((one) => ({
    ...one,
    colours: bytes(one.colours),
    frames: one.frames.map(({ shades, wide }) => Object.assign(bytes(shades), { wide })),
  }));
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const app = document.querySelector("[data-testid=stApp]");
  const answers = () => document.querySelector(".pc-answers");
  const image = (one) => document.querySelectorAll(one.images)[one.at];
  const source = (one) => image(one)?.src ?? image(one)?.getAttributeNS(XLINK, "href");
  const draw = (one, url) => {
    const found = image(one);
    if (found?.href) found.setAttributeNS(XLINK, "href", url);
    else if (found) found.src = url;
  };
  const titles = () => (data.titles ? document.querySelectorAll(data.titles) : []);
  let [before, waits] = [null, false]; // what stood there when the drag began

  // Between which two places the lever stands, and how far from the first.
  const between = (text) => {
    const [last, found] = [places.length - 1, places.indexOf(text)];
    if (!data.blend) return found < 0 ? null : [Math.max(1, found), Math.min(1, found)];
    const above = Math.max(1, places.findIndex((known, at) => known >= Number(text) || at === last));
    const [low, high] = [places[above - 1], places[above]];
    return [above, Math.min(1, Math.max(0, Math.log(Number(text) / low) / Math.log(high / low)))];
  };
  const picture = ({ frames, colours }, [above, share]) => {
    const [low, high] = share === 1 ? [frames[above], frames[above]] : [frames[above - 1], frames[above]];
    canvas.width = low.wide;
    canvas.height = low.length / low.wide;
    const pixels = pen.createImageData(canvas.width, canvas.height);
    for (let cell = 0; cell < low.length; cell++) {
      const shade = 3 * Math.round(share ? low[cell] * (1 - share) + high[cell] * share : low[cell]);
      pixels.data.set(colours.subarray(shade, shade + 3), 4 * cell);
      pixels.data[4 * cell + 3] = 255;
    }
    pen.putImageData(pixels, 0, 0);
    return canvas.toDataURL();
  };
  const about = (of, [above, share]) => of[above - 1] ** (1 - share) * of[above] ** share;
  const percent = (value) => `\u2248 ${Number((100 * value).toPrecision(3)).toLocaleString("en")}\u00a0%`;

  const begin = () => {
    const urls = pictures.map((one) => (source(one) === one.shown ? null : source(one)));
    const texts = [...titles()].map((title) => title.textContent);
    before = { level: answers().dataset.level, markup: answers().innerHTML, urls, texts };
    app.classList.add("pc-follows");
  };
  const end = () => {
    before = null;
    app.classList.remove("pc-follows");
  };
  const move = () => {
    waits = false;
    const lever = app.querySelector(data.lever);
    if (!lever || !answers()) return;
    const level = lever.getAttribute("aria-valuetext");
    if (!before && level === answers().dataset.level) return;
    if (!before) begin();
    if (level === before.level) {
      pictures.forEach((one, at) => draw(one, before.urls[at] ?? picture(one, between(level))));
      titles().forEach((title, at) => (title.textContent = before.texts[at]));
      answers().innerHTML = before.markup;
      return end();
    }
    if (level === answers().dataset.level) return; // the server's answer is there
    const place = between(level);
    if (!place) return; // a place that only this visitor has
    pictures.forEach((one) => draw(one, (one.shown = picture(one, place))));
    data.texts?.[place[0] - 1 + place[1]]?.forEach((text, at) => titles()[at] && (titles()[at].textContent = text));
    for (const [name, of] of Object.entries(numbers)) {
      const value = about(of, place);
      answers().querySelectorAll(`[data-number=${name}]`).forEach((text) => (text.textContent = percent(value)));
      answers().querySelectorAll(`[data-needle=${name}]`).forEach((mark) => (mark.style.left = `${200 * value - 100}%`));
    }
  };
  const watch = new MutationObserver((changes) => {
    if (changes.some(({ target }) => target === app)) {
      if (app.dataset.testScriptState === "notRunning" && answers()?.dataset.level !== before?.level) end();
    } else if (!waits && changes.some(({ target }) => target.matches(data.lever))) {
      waits = true;
      requestAnimationFrame(move);
    }
  });
  watch.observe(app, { attributes: true, subtree: true, attributeFilter: ["aria-valuetext", "data-test-script-state"] });
  return () => {
    watch.disconnect();
    end();
  };
}
