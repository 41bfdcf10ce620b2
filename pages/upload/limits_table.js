// The page may run again while somebody types: what stands in the fields is theirs, so the table is built once.
const NUMBER = /^[+\-\u2212]?(\d+\.?\d*|\.\d+)([eE][+\-\u2212]?\d+)?$/;

export default function ({ data, parentElement, setStateValue }) {
  const body = parentElement.querySelector("tbody");
  if (body.childElementCount) return;
  const typed = data.columns.map((column) => ["tick", "number", "text"].includes(column.kind));
  const field = (row, place) => body.rows[row]?.cells[place]?.firstElementChild;

  const judge = (input) => {
    const text = input.value.trim();
    const wrong = input.inputMode === "decimal" && text !== "" && !(NUMBER.test(text) && isFinite(text.replaceAll("\u2212", "-")));
    input.setAttribute("aria-invalid", wrong);
    input.title = wrong ? "Not a finite number: digits, with a point before the decimals." : "";
  };
  const read = (input) => (input.type === "checkbox" ? input.checked : input.value);
  const tell = () =>
    setStateValue(
      "cells",
      data.rows.map((_, row) => data.columns.map((_, place) => (typed[place] ? read(field(row, place)) : null))),
    );

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
      }),
    );
    tell();
  };

  const make = (cell, column, value, row, place, name) => {
    const input = document.createElement("input");
    input.setAttribute("aria-label", `${column.label} of ${name}`);
    input.autocomplete = "off";
    if (column.kind === "tick") {
      input.type = "checkbox";
      input.checked = value;
    } else {
      input.type = "text";
      input.spellcheck = false;
      if (column.kind === "number") input.inputMode = "decimal";
      if (column.most) input.maxLength = column.most;
      input.value = value;
      judge(input);
    }
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
      if (typed[place]) make(cell, column, values[place], row, place, name);
      else cell.textContent = cell.title = values[place];
      if (column.kind === "name") cell.scope = "row";
    });
  });
}
