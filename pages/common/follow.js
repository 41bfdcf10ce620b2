// Shows matrices and numbers at the place of their lever while it is dragged, from places that were computed before. The
// server hears of the lever when the finger lifts. Nothing that the server drew is changed: what moves lies over it, and
// is seen as long as the lever stands elsewhere than the answers on the page (the class pc-follows).
const XLINK = "http://www.w3.org/1999/xlink"; // where plotly keeps the source of an image
const EVERY = 100; // milliseconds between two looks, from the first move until lever and answers agree
const LOST = 30; // looks after which the server, that says nothing, has not heard of the lever
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
  const lever = () => app.querySelector(data.lever)?.getAttribute("aria-valuetext");
  const answers = () => app.querySelector(".pc-answers");

  // Between which two places the lever stands, and how far from the first.
  const between = (text) => {
    const above = Math.max(1, places.findIndex((known, at) => known >= Number(text) || at === places.length - 1));
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
  // The element that lies over another one, made where there is none.
  const over = (under) => {
    if (under.nextElementSibling?.classList.contains("pc-moving")) return under.nextElementSibling;
    const made = under.cloneNode();
    made.classList.add("pc-moving");
    made.__data__ = under.__data__; // plotly styles every image by what d3 keeps there, and stops where it is missing
    for (const name of ["alt", "aria-label"]) made.removeAttribute(name);
    made.setAttribute("aria-hidden", "true");
    under.after(made);
    return made;
  };
  const under = (elements) => app.querySelectorAll(elements.replaceAll("@", ":not(.pc-moving)"));
  const cover = (image, url) => {
    if (!image) return;
    const made = over(image);
    if (!image.href) return (made.src = url);
    for (const name of ["x", "y", "width", "height"]) made.setAttribute(name, image.getAttribute(name));
    made.setAttributeNS(XLINK, "href", url);
  };
  const about = (of, [above, share]) => of[above - 1] ** (1 - share) * of[above] ** share;
  const percent = (value) => {
    const digits = value < 0.01 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: value < 10 ? 1 : 0 };
    return `\u2248 ${(100 * value).toLocaleString("en", digits)}\u00a0%`;
  };

  let [drawn, timer, agreed, idle] = ["", 0, 0, 0];
  const look = () => {
    const [now, shown] = [lever(), answers()];
    if (!now || !shown) return stop();
    const running = app.dataset.testScriptState !== "notRunning";
    // A run that the lever did not ask for is no reason to begin.
    const agree = now === shown.dataset.level && !(running && app.classList.contains("pc-follows"));
    const place = agree ? null : between(now);
    app.classList.toggle("pc-follows", place !== null);
    agreed = agree ? agreed + 1 : 0;
    const held = app.querySelector(data.lever).closest("[data-dragging]");
    idle = agree || running || held ? 0 : idle + 1;
    if (agreed > 2 || idle > LOST) return stop();
    if (!place) return (drawn = "");
    const wide = pictures.map((one) => under(one.images)[one.at]?.getBoundingClientRect().width);
    if (drawn === `${now} ${wide}` && shown.dataset.drawn === now) return;
    [drawn, shown.dataset.drawn] = [`${now} ${wide}`, now];
    pictures.forEach((one) => cover(under(one.images)[one.at], picture(one, place)));
    if (!Object.keys(numbers).length) shown.querySelectorAll("[data-moving]").forEach((text) => (text.textContent = "…"));
    for (const [name, of] of Object.entries(numbers)) {
      const value = about(of, place);
      shown.querySelectorAll(`[data-moving=${name}]`).forEach((text) => (text.textContent = percent(value)));
      const left = `${200 * value - 100}%`;
      shown.querySelectorAll(`[data-needle=${name}]`).forEach((mark) => mark.style.setProperty("--moving", left));
    }
  };
  const stop = () => {
    clearInterval(timer);
    [drawn, timer, agreed, idle] = ["", 0, 0, 0];
    app.classList.remove("pc-follows");
    app.querySelectorAll(".pc-moving").forEach((made) => made.remove());
  };
  const watch = new MutationObserver((changes) => {
    if (!changes.some(({ target }) => target.matches(data.lever))) return;
    agreed = idle = 0;
    timer ||= setInterval(look, EVERY);
    requestAnimationFrame(look);
  });
  watch.observe(app, { attributes: true, subtree: true, attributeFilter: ["aria-valuetext"] });
  return () => {
    watch.disconnect();
    stop();
  };
}
