// Redraws the released matrix and its numbers while the level is dragged, between releases made at a few levels. The
// server hears of the level when the finger lifts, and its answer replaces all of this.
const XLINK = "http://www.w3.org/1999/xlink"; // where plotly keeps the source of an image
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

export default function (given) {
  const data = JSON.parse(new TextDecoder().decode(given.data));
  const { levels, numbers, d } = data;
  const [frames, colours] = [bytes(data.frames), bytes(data.colours)];
  const canvas = Object.assign(document.createElement("canvas"), { width: d, height: d });
  const [pen, pixels] = [canvas.getContext("2d"), new ImageData(d, d)];
  const app = document.querySelector("[data-testid=stApp]");
  const answers = () => document.querySelector(data.answers);
  const images = () => document.querySelectorAll(data.images);
  const source = (image) => image.src ?? image.getAttributeNS(XLINK, "href");
  const draw = (image, url) => (image.href ? image.setAttributeNS(XLINK, "href", url) : (image.src = url));
  let [before, shown, waits] = [null, "", false]; // what stood there when the drag began; the image drawn last

  const between = (level) => {
    const above = Math.max(1, levels.findIndex((known, at) => known >= level || at === levels.length - 1));
    const [low, high] = [levels[above - 1], levels[above]];
    return [above, Math.min(1, Math.max(0, Math.log(level / low) / Math.log(high / low)))];
  };
  const picture = ([above, share]) => {
    const [high, size] = [above * d * d, d * d];
    for (let cell = 0; cell < size; cell++) {
      const value = frames[high - size + cell] * (1 - share) + frames[high + cell] * share;
      pixels.data.set(colours.subarray(3 * Math.round(value), 3 * Math.round(value) + 3), 4 * cell);
      pixels.data[4 * cell + 3] = 255;
    }
    pen.putImageData(pixels, 0, 0);
    return canvas.toDataURL();
  };
  const about = (of, [above, share]) => of[above - 1] ** (1 - share) * of[above] ** share;
  const percent = (value) => `\u2248 ${Number((100 * value).toPrecision(3)).toLocaleString("en")}\u00a0%`;

  const begin = () => {
    const kept = [...images()].map((image) => [image, source(image)]).filter(([, url]) => url !== shown);
    before = { level: answers().dataset.level, markup: answers().innerHTML, images: kept };
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
      before.images.forEach(([image, url]) => draw(image, url));
      answers().innerHTML = before.markup;
      return end();
    }
    if (level === answers().dataset.level) return; // the server's answer is there
    const place = between(Number(level));
    shown = picture(place);
    images().forEach((image) => draw(image, shown));
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
