// The page may run again, show the table anew or go away while somebody types. So every edit is numbered and kept until
// the page says that it has heard of it; until then the field shows the edit, and from then on what the page says.
const LOGS = new Map();
const NUMBER = /^[+\-\u2212]?(\d+[.,]?\d*|[.,]\d+)([eE][+\-\u2212]?\d+)?$/;
const THOUSANDS = /^[+\-\u2212]?[1-9]\d{0,2}(,\d{3}|\.000)$/; // or three decimals: nobody knows
const numeric = (text) => NUMBER.test(text) && !THOUSANDS.test(text);
const RANGE = /^(\S.*?)(?:\s+(?:to|-)\s+|\s*(?:\.\.|\u2013)\s*)(\S.*)$|^(\d[\d.,]*)-(\d[\d.,]*)$/;
const range = (text) => (RANGE.exec(text) ?? []).slice(1).filter((end) => end && numeric(end)).length === 2;
const valued = (text) => Number(text.replaceAll("\u2212", "-").replace(",", "."));

export default function ({ data, parentElement, setStateValue }) {
  const body = parentElement.querySelector("tbody");
  if (!LOGS.has(data.key)) LOGS.set(data.key, { edits: new Map(), last: data.heard });
  const log = LOGS.get(data.key);
  log.heard = data.heard;
  const typed = data.columns.map((column) => ["tick", "number", "limit", "choice", "text"].includes(column.kind));
  const choice = data.columns.findIndex((column) => column.kind === "choice");
  const field = (row, place) => body.rows[row]?.cells[place]?.firstElementChild;

  const flag = (input, wrong, why) => {
    input.setAttribute("aria-invalid", wrong);
    input.title = wrong ? why : "";
  };
  const judge = (row, place) => {
    const { kind } = data.columns[place];
    if (kind === "choice") data.columns.forEach((column, at) => column.kind === "limit" && judge(row, at));
    if (kind !== "number" && kind !== "limit") return;
    const input = field(row, place);
    const text = input.value.trim();
    const number = numeric(text) && isFinite(valued(text));
    const any = kind === "limit" && !data.columns[choice].numeric.includes(field(row, choice).value);
    const both = data.columns[place].range && range(text);
    flag(input, text !== "" && !number && !any && !both, "Not a finite number: digits, with a point before the decimals, or a comma where it cannot be thousands.");
  };
  const read = (input) => (input.type === "checkbox" ? input.checked : input.value);
  const note = (row, place) => log.edits.set(`${row} ${place}`, [row, place, ++log.last, read(field(row, place))]);
  const unheard = () => [...log.edits.values()].filter(([, , number]) => number > log.heard);
  const tell = () => setStateValue("cells", unheard());

  const plain = (text, column) => {
    const trimmed = text.trim();
    return ["number", "limit"].includes(column.kind) && numeric(trimmed) ? valued(trimmed) : trimmed;
  };
  const write = (row, place, value) => {
    const [input, column] = [field(row, place), data.columns[place]];
    if (column.kind === "tick") input.checked = value;
    else if (plain(input.value, column) !== plain(value, column)) {
      input.value = value; // 1e3 stays where the page says 1000
      judge(row, place);
    }
  };
  const show = () => {
    const edited = new Map(unheard().map(([row, place, , value]) => [`${row} ${place}`, value]));
    data.rows.forEach((values, row) =>
      values.forEach((value, place) => {
        if (typed[place]) write(row, place, edited.get(`${row} ${place}`) ?? value);
      }),
    );
    body.querySelectorAll("[data-marked]").forEach((marked) => {
      flag(marked, false, "");
      delete marked.dataset.marked;
    });
    for (const [row, place, why] of data.wrong) {
      const marked = field(row, place) ?? body.rows[row].cells[place];
      if (marked.getAttribute("aria-invalid") === "true") continue; // its own sentence
      flag(marked, true, why);
      marked.dataset.marked = "";
    }
  };
  if (body.childElementCount) return show();

  const go = (row, place) => {
    const next = field(row, place);
    if (!next) return;
    next.focus();
    if (next.type === "text") next.select();
  };
  const paste = (event, row, place) => {
    const text = event.clipboardData.getData("text/plain").replace(/\r?\n$/, "");
    if (!/[\t\n]/.test(text)) return; // one value: the field takes it itself
    event.preventDefault();
    text.split(/\r?\n/).forEach((line, down) =>
      line.split("\t").forEach((value, right) => {
        const input = typed[place + right] && field(row + down, place + right);
        if (!input) return;
        const text = value.trim();
        if (input.type === "checkbox") input.checked = /^(1|true|yes|x)$/i.test(text);
        else if (input.tagName === "SELECT") {
          const known = data.columns[place + right].options.includes(text.toLowerCase());
          flag(input, !known, `What was pasted here is none of the choices: ${text}`);
          if (!known) return;
          input.value = text.toLowerCase();
        } else input.value = text;
        judge(row + down, place + right);
        note(row + down, place + right);
      }),
    );
    tell();
  };

  const make = (cell, column, row, place, name) => {
    const input = document.createElement(column.kind === "choice" ? "select" : "input");
    input.setAttribute("aria-label", `${column.label} of ${name}`);
    input.autocomplete = "off";
    if (column.kind === "choice") {
      input.append(...column.options.map((option) => new Option(option)));
    } else if (column.kind === "tick") {
      input.type = "checkbox";
    } else {
      input.type = "text";
      input.spellcheck = false;
      if (column.kind === "number") input.inputMode = "decimal";
      if (column.most) input.maxLength = column.most;
    }
    input.addEventListener("input", () => note(row, place));
    input.addEventListener("change", () => {
      flag(input, false, "");
      judge(row, place);
      tell();
    });
    input.addEventListener("paste", (event) => paste(event, row, place));
    input.addEventListener("keydown", (event) => {
      const step = { Enter: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1 }[event.key];
      const own = column.kind === "choice" && event.key !== "Enter"; // the arrows choose
      if (!step || own || event.isComposing) return;
      event.preventDefault();
      go(row + step, place);
    });
    cell.append(input);
  };

  parentElement.querySelector("caption").textContent = data.caption;
  const head = parentElement.querySelector("thead").insertRow();
  for (const column of data.columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.className = `${column.kind} of-${column.name}`;
    cell.textContent = column.label;
    cell.title = column.help;
    head.append(cell);
  }
  data.rows.forEach((values, row) => {
    const line = body.insertRow();
    const name = values[data.columns.findIndex((column) => column.kind === "name")];
    data.columns.forEach((column, place) => {
      const cell = column.kind === "name" ? line.appendChild(document.createElement("th")) : line.insertCell();
      cell.className = `${column.kind} of-${column.name}`;
      if (typed[place]) make(cell, column, row, place, name);
      else cell.textContent = cell.title = values[place];
      if (column.kind === "name") cell.scope = "row";
    });
  });
  show();
  if (unheard().length) tell(); // typed just before the visitor went to another page and back
}
