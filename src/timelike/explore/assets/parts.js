// Building blocks of the panel.

/** Create an element from tag, properties and children (elements or text). */
export function make(tag, properties = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") found.className = value;
    else if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (name.startsWith("aria-") || name === "role" || name === "for" || name.startsWith("data-")) found.setAttribute(name, value);
    else found[name] = value;
  }
  found.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return found;
}

/** Significant digits: six, the precision of float32, or as many as asked for. */
export function digits(x, many = 6) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e-4 && size < 1e6 ? x.toPrecision(many) : x.toExponential(many - 1);
  return text.replace("-", "−");
}

/** Three significant digits, for legends. */
export const short = (x) => digits(Number(x.toPrecision(3))).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

/** A probability in three digits, with its spread, sign and type if the model has them. */
export function chance({ p, spread, labels }) {
  const three = (x) => digits(Number(x.toPrecision(3)), 3);
  const sure = spread === undefined ? three(p) : `${three(p)} ± ${digits(Number(spread.toPrecision(1)), 1)}`;
  return labels === undefined ? sure : `${sure},\n${labels}`;
}

export const percent = (p) => `${(100 * p).toFixed(p < 0.1 ? 2 : 1)}%`;
export const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

export function ordinal(place) {
  if (place !== Math.floor(place)) return `${place}`;
  const tens = place % 100, last = place % 10;
  return `${place.toLocaleString("en")}${tens > 10 && tens < 14 ? "th" : ["th", "st", "nd", "rd"][last] ?? "th"}`;
}

/** A probability as a bar. */
export function bar(p, kind = "") {
  const fill = make("span", { class: `fill ${kind}` });
  fill.style.width = `${100 * Math.min(1, Math.max(0, p))}%`;
  return make("span", { class: "bar", "aria-hidden": "true" }, fill);
}

/** A text field that completes node names: an ARIA combobox. */
export class NameField {
  constructor(holder, { label, placeholder, search, choose, id }) {
    Object.assign(this, { search, choose, at: -1, rows: [], turn: 0 });
    this.list = make("ul", { class: "found", role: "listbox", id: `${id}-list`, "aria-label": `${label}: suggestions`, hidden: true });
    this.input = make("input", {
      id, type: "search", placeholder, autocomplete: "off", spellcheck: false, role: "combobox", maxLength: 500,
      "aria-label": label, "aria-expanded": "false", "aria-controls": `${id}-list`, "aria-autocomplete": "list",
      oninput: () => this.complete(), onkeydown: (event) => this.key(event), onblur: () => setTimeout(() => this.close(), 150),
    });
    holder.append(this.input, this.list);
  }

  get value() { return this.input.value.trim(); }
  set value(text) { this.input.value = text; }

  async complete() {
    const turn = (this.turn += 1), text = this.value;
    const rows = text ? await this.search(text).catch(() => []) : [];
    if (turn !== this.turn || document.activeElement !== this.input) return;
    this.rows = rows.length === 1 && rows[0].name === text ? [] : rows;
    this.at = -1;
    this.list.replaceChildren(...this.rows.map((row, i) => make("li", {
      role: "option", id: `${this.list.id}-${i}`, "aria-selected": "false", textContent: row.name,
      onpointerdown: (event) => { event.preventDefault(); this.take(row.name); },
    })));
    this.list.hidden = !this.rows.length;
    this.input.setAttribute("aria-expanded", String(this.rows.length > 0));
  }

  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!this.rows.length) return;
      this.at = (this.at + (event.key === "ArrowDown" ? 1 : -1) + this.rows.length) % this.rows.length;
      [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === this.at)));
      this.list.children[this.at].scrollIntoView({ block: "nearest" });
      this.input.setAttribute("aria-activedescendant", `${this.list.id}-${this.at}`);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.at >= 0) this.take(this.rows[this.at].name);
      else if (this.value) this.enter();
    } else if (event.key === "Escape") {
      event.preventDefault(); // browsers would clear the field
      if (this.list.hidden) this.input.blur();
      this.close();
      event.stopPropagation();
    }
  }

  /** Take the text, or the only name that begins like it. */
  async enter() {
    const text = this.value, rows = await this.search(text).catch(() => []);
    if (text === this.value) this.take(rows.length === 1 ? rows[0].name : text);
  }

  take(name) { this.turn += 1; this.value = name; this.close(); this.choose(name); }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}

/** An error message with similar names to click on. */
export function complaint(error, choose) {
  const near = (error.near ?? []).map((name) => make("button", { type: "button", class: "link", textContent: name, onclick: () => choose(name) }));
  return make("p", { class: "wrong", role: "alert" }, error.message, near.length ? ". Did you mean " : "", ...near.flatMap((x, i) => (i ? [", ", x] : [x])), near.length ? "?" : "");
}
