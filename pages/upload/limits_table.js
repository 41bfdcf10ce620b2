// The page may run again, show the table anew or go away while somebody types. So every edit is numbered and kept until
// the page says that it has heard of it; until then the field shows the edit, and from then on what the page says.
const LOGS = new Map();
const NUMBER = /^[+\-\u2212]?(\d+\.?\d*|\.\d+)([eE][+\-\u2212]?\d+)?$/;

export default function ({ data, parentElement, setStateValue }) {
  const body = parentElement.querySelector("tbody");
  if (!LOGS.has(data.key)) LOGS.set(data.key, { edits: new Map(), last: data.heard });
  const log = LOGS.get(data.key);
  log.heard = data.heard;
  const typed = data.columns.map((column) => ["tick", "number", "text"].includes(column.kind));
  const field = (row, place) => body.rows[row]?.cells[place]?.firstElementChild;

  const judge = (input) => {
    const text = input.value.trim();
    const fine = text === "" || (NUMBER.test(text) && isFinite(text.replaceAll("\u2212", "-")));
    const wrong = input.inputMode === "decimal" && !fine;
    input.setAttribute("aria-invalid", wrong);
    input.title = wrong ? "Not a finite number: digits, with a point before the decimals." : "";
  };
  const read = (input) => (input.type === "checkbox" ? input.checked : input.value);
  const note = (row, place) => log.edits.set(`${row} ${place}`, [row, place, ++log.last, read(field(row, place))]);
  const unheard = () => [...log.edits.values()].filter(([, , number]) => number > log.heard);
  const tell = () => setStateValue("cells", unheard());

  const plain = (text, column) => {
    const trimmed = text.trim();
    return column.kind === "number" && NUMBER.test(trimmed) ? Number(trimmed.replaceAll("\u2212", "-")) : trimmed;
  };
  const write = (input, value, column) => {
    if (column.kind === "tick") input.checked = value;
    else if (plain(input.value, column) !== plain(value, column)) {
      input.value = value; // 1e3 stays where the page says 1000
      judge(input);
    }
  };
  const show = () => {
    const edited = new Map(unheard().map(([row, place, , value]) => [`${row} ${place}`, value]));
    data.rows.forEach((values, row) =>
      values.forEach((value, place) => {
        if (typed[place]) write(field(row, place), edited.get(`${row} ${place}`) ?? value, data.columns[place]);
      }),
    );
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
        if (input.type === "checkbox") input.checked = /^(1|true|yes|x)$/i.test(value.trim());
        else {
          input.value = value.trim();
          judge(input);
        }
        note(row + down, place + right);
      }),
    );
    tell();
  };

  const make = (cell, column, row, place, name) => {
    const input = document.createElement("input");
    input.setAttribute("aria-label", `${column.label} of ${name}`);
    input.autocomplete = "off";
    if (column.kind === "tick") {
      input.type = "checkbox";
    } else {
      input.type = "text";
      input.spellcheck = false;
      if (column.kind === "number") input.inputMode = "decimal";
      if (column.most) input.maxLength = column.most;
    }
    input.addEventListener("input", () => note(row, place));
    input.addEventListener("change", () => {
      judge(input);
      tell();
    });
    input.addEventListener("paste", (event) => paste(event, row, place));
    input.addEventListener("keydown", (event) => {
      const step = { Enter: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.isComposing) return;
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
    cell.className = column.kind;
    cell.textContent = column.label;
    cell.title = column.help;
    head.append(cell);
  }
  data.rows.forEach((values, row) => {
    const line = body.insertRow();
    const name = values[data.columns.findIndex((column) => column.kind === "name")];
    data.columns.forEach((column, place) => {
      const cell = column.kind === "name" ? line.appendChild(document.createElement("th")) : line.insertCell();
      cell.className = column.kind;
      if (typed[place]) make(cell, column, row, place, name);
      else cell.textContent = cell.title = values[place];
      if (column.kind === "name") cell.scope = "row";
    });
  });
  show();
  if (unheard().length) tell(); // typed just before the visitor went to another page and back
}
