// The state of the page: models, view, colour and selected node; notifies every part of changes.

import { Address } from "timelike/address.js";
import { kindColour, viridis, hex } from "timelike/colours.js";
import { save, savePng, saveSvg } from "timelike/files.js";
import { LABELS, Layout } from "timelike/layouts.js";
import { Pane } from "timelike/pane.js";
import { PairPanel, likeliest, modelPanel, nodePanel } from "timelike/panel.js";
import { NameField, complaint, make, short } from "timelike/parts.js";
import { Replay } from "timelike/replay.js";

const $ = (id) => document.getElementById(id);

export class Explorer {
  constructor(source, say) {
    Object.assign(this, { source, say, panes: [], chosen: [], names: [], options: { edges: false, cone: true, labels: true, stretch: false }, state: { which: 0, onlyNew: true } });
  }

  async start() {
    this.models = (await this.source.about()).models;
    document.body.classList.toggle("two", this.models.length > 1);
    const [first] = this.models;
    document.title = `${this.models.map((m) => m.title).join(" | ")} – timelike`;
    $("title").textContent = this.models.map((m) => `${m.title}: ${m.nodes.toLocaleString("en")} nodes in ${m.space}`).join("  |  ");
    this.search = new NameField($("search"), { id: "find", label: "Find a node", placeholder: "Find a node   /", search: (text) => this.find(text), choose: (name) => this.choose(name) });
    this.options.edges = this.models.every((m) => m.drawn_edges > 0 && m.drawn_edges <= 5000);
    this.models.forEach((about, m) => {
      this.names[m] = new Map(about.labels);
      const pane = new Pane($("panes"), about, this.options, { choose: (id) => this.chooseNumber(m, id), name: (id) => this.name(m, id) });
      const title = this.models.length > 1 ? make("p", { class: "pane-title" }, about.title) : null;
      pane.element.append(make("div", { class: "pane-head" }, title, make("div", { class: "legend" })));
      this.panes.push(pane);
    });
    this._controls(first);
    this._panel();
    await Promise.all(this.panes.map((pane, m) => this._load(pane, m)));
    if (this.models.some((m) => m.epochs)) this.replay = new Replay(this);
    this.painted = performance.now();
    this.address = new Address(this);
    if (location.hash) await this.address.follow();
    this._later();
  }

  /** Load positions and colours, which the first picture needs. */
  async _load(pane, m) {
    const [table, values] = await Promise.all([this.source.positions(m), this.source.colour(m, 0)]);
    pane.home = table;
    pane.setTable(table);
    const { label, categories } = this.models[m].colours[0];
    pane.setColour(label, values, categories);
    pane.setView(this.viewOf(m, this.view));
    if (new Layout("diagram", this.models[m], table).thin) this.options.stretch = $("stretch").checked = true;
    pane.resize();
    pane.fit();
    pane.drawNow();
    this._legend(pane);
  }

  _later() {
    modelPanel($("model"), this.models, { likeliest: (m) => this.source.likeliest(m), check: (a, b) => this.check(a, b) });
    this.panes.forEach(async (pane, m) => { if (this.models[m].drawn_edges) pane.setEdges(await this.source.edges(m)); });
  }

  _controls(first) {
    const all = [...new Set(this.models.flatMap((m) => m.views))];
    this.views = all;
    this.view = first.epochs && first.views.includes("rolled") ? "rolled" : first.views[0];
    const hyperboloid = this.models.filter((m) => m.views.includes("rolled")).every((m) => m.wall);
    const words = { ...LABELS, ...(hyperboloid ? { rolled: "Hyperboloid" } : {}), ...(this.models.every((m) => m.clock !== "time") ? { diagram: "Plane" } : {}) };
    $("views").replaceChildren(...all.map((name) => make("button", { type: "button", "data-view": name, onclick: () => this.setView(name) }, words[name])));
    this._pressView();
    const labels = first.colours.map((c) => c.label);
    $("colour").replaceChildren(...labels.map((text, i) => make("option", { value: `${i}` }, text)));
    $("colour").onchange = () => this.setColour(labels[Number($("colour").value)]);
    for (const name of ["edges", "cone", "labels"]) {
      $(name).checked = this.options[name];
      $(name).onchange = () => { this.options[name] = $(name).checked; this.redraw(); };
    }
    const drawn = this.models.some((m) => m.drawn_edges);
    $("edges").disabled = !drawn;
    if (!drawn) $("edges").parentElement.title = first.edges ? "Too many to draw at once; select a node to see its edges" : "The model was saved without its edges";
    $("cone").disabled = !this.models.some((m) => m.light || m.views.includes("polar"));
    $("stretch").onchange = () => { this.options.stretch = $("stretch").checked; this.panes.forEach((pane) => pane.fit()); };
    $("fit").onclick = () => this.panes.forEach((pane) => pane.fit());
    this._exports();
  }

  _exports() {
    const alone = this.models.map((m) => m.alone).find(Boolean);
    const items = [
      ["Picture as PNG", "png", () => savePng(this.panes)],
      ["Picture as SVG", "svg", () => saveSvg(this.panes)],
      ["Predictions for the node as TSV", "tsv", () => this.saveTable()],
      ["This page as one HTML file", "html", async () => save("timelike.html", await this.source.page(), "text/html"), alone],
    ];
    $("export-items").replaceChildren(...items.map(([text, id, act, not]) => make("button", {
      type: "button", id: `export-${id}`, disabled: Boolean(not), title: not ?? "",
      onclick: async () => { $("export").open = false; try { await act(); } catch (error) { this.say(error.message, "wrong"); } },
    }, text)));
    document.addEventListener("click", (event) => { if (!event.target.closest("#export")) $("export").open = false; });
    $("export").onkeydown = (event) => { if (event.key === "Escape" && $("export").open) { $("export").open = false; $("export").firstElementChild.focus(); event.stopPropagation(); } };
  }

  async saveTable() {
    const { which } = this.state, found = this.chosen[which] ?? this.chosen.find(Boolean);
    if (!found) throw new Error("Select a node first; the table lists its likely edges.");
    save("predictions.tsv", await this.source.table(this.chosen.indexOf(found), found.id), "text/tab-separated-values");
  }

  _panel() {
    this.pair = new PairPanel($("pair"), {
      search: (text) => this.find(text), about: (m) => this.models[m], several: this.models.length > 1,
      ask: async (a, b) => {
        const found = await Promise.allSettled(this.models.map((_, m) => this.source.pair(m, a, b)));
        if (found.every((x) => x.reason)) throw found[0].reason;
        this.panes.forEach((pane, m) => {
          const pair = found[m].value?.forward;
          pane.check(pair ? { ...pair, turn: likeliest(pair.why.images).turn } : null);
        });
        this.address?.write();
        return found.map((x) => x.value ?? x.reason);
      },
    });
    for (const name of ["model", "node", "pair"]) {
      const tab = $(`tab-${name}`);
      tab.onclick = () => this.showTab(name);
      tab.onkeydown = (event) => {
        const names = ["model", "node", "pair"], step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) { const next = names[(names.indexOf(name) + step + 3) % 3]; this.showTab(next); $(`tab-${next}`).focus(); }
      };
    }
    this.showNode();
    this.showTab("model");
  }

  showTab(name) {
    for (const other of ["model", "node", "pair"]) {
      $(other).hidden = other !== name;
      $(`tab-${other}`).setAttribute("aria-selected", String(other === name));
      $(`tab-${other}`).tabIndex = other === name ? 0 : -1;
    }
  }

  showNode() {
    nodePanel($("node"), this.chosen, this.state, {
      about: (m) => this.models[m], go: (name) => this.choose(name), check: (a, b) => this.check(a, b),
      from: (name) => { this.showTab("pair"); this.pair.set(name, ""); }, table: () => this.saveTable(),
      show: (m) => { this.state.which = m; this.showNode(); }, onlyNew: (yes) => { this.state.onlyNew = yes; this.showNode(); $("only-new").focus(); },
    });
  }

  check(a, b) { this.showTab("pair"); return this.pair.set(a, b); }

  async find(text) {
    const found = await Promise.all(this.models.map((_, m) => this.source.search(m, text))), seen = new Set();
    return found.flat().filter(({ name }) => !seen.has(name) && seen.add(name)).slice(0, 12);
  }

  async name(m, id) {
    if (!this.names[m].has(id)) this.names[m].set(id, (await this.source.names(m, [id]))[0]);
    return this.names[m].get(id);
  }

  async chooseNumber(m, id) { return id === null ? this.chooseNothing() : this.choose(await this.name(m, id)); }

  /** Select a node by name in every model that has it. */
  async choose(name) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const found = await Promise.allSettled(this.models.map((_, m) => this.source.node(m, String(name))));
    if (turn !== this.turn) return;
    if (found.every((x) => x.reason)) { this._unknown(found[0].reason); return; }
    this.say("");
    this.chosen = found.map((x) => x.value ?? null);
    if (!this.chosen[this.state.which]) this.state.which = this.chosen.findIndex(Boolean);
    this.panes.forEach((pane, m) => { pane.choose(this.chosen[m]); if (this.chosen[m]) pane.reveal(this.chosen[m].id); });
    this.search.value = name;
    this.showNode();
    this.showTab("node");
    $("panel").scrollTop = 0;
    this.address?.write();
  }

  _unknown(error) {
    if (!error.near) return; // the server has stopped; the status line says so
    $("node").replaceChildren(complaint(error, (other) => this.choose(other)));
    this.showTab("node");
  }

  chooseNothing() {
    this.turn = (this.turn ?? 0) + 1;
    this.chosen = [];
    this.search.value = "";
    this.panes.forEach((pane) => pane.choose(null));
    this.showNode();
    this.say("");
    this.address?.write();
  }

  viewOf(m, name) { return this.models[m].views.includes(name) ? name : this.models[m].views[0]; }

  setView(name) {
    this.view = name;
    this.panes.forEach((pane, m) => pane.setView(this.viewOf(m, name)));
    this._pressView();
    this.address?.write();
  }

  _pressView() {
    for (const button of $("views").children) button.setAttribute("aria-pressed", String(button.dataset.view === this.view));
    $("stretch").parentElement.hidden = this.view !== "diagram";
  }

  async setColour(label) {
    await Promise.all(this.panes.map(async (pane, m) => {
      const i = this.models[m].colours.findIndex((c) => c.label === label);
      if (i < 0) return;
      pane.setColour(label, await this.source.colour(m, i), this.models[m].colours[i].categories);
      this._legend(pane);
    }));
    this.address?.write();
  }

  _legend(pane) {
    const { scale } = pane, legend = pane.element.querySelector(".legend");
    const swatch = (colour, text) => { const dot = make("i"); dot.style.background = colour; return make("span", { class: "kind" }, dot, text); };
    if (scale.categories) {
      const others = scale.values.some((x) => x >= scale.categories.length);
      legend.replaceChildren(make("b", {}, scale.label), ...scale.categories.map((text, i) => swatch(kindColour(i), text)), ...(others ? [swatch(kindColour(99), "other")] : []));
      return;
    }
    const strip = make("span", { class: "strip" });
    strip.style.background = `linear-gradient(90deg, ${Array.from({ length: 9 }, (_, i) => hex(viridis(i / 8))).join(", ")})`;
    const without = scale.values.some(Number.isNaN) ? [swatch(kindColour(99), "none")] : [];
    legend.replaceChildren(make("b", {}, scale.label), short(scale.low), strip, short(scale.high), ...(scale.log ? [make("small", {}, "log")] : []), ...without);
  }

  redraw() { this.panes.forEach((pane) => pane.draw()); }

  recolour() { this.panes.forEach((pane) => { if (pane.scale) { pane.recolour(); this._legend(pane); } }); }

  keys() {
    const each = (act) => () => this.panes.forEach(act), tick = (id) => () => $(id).click();
    const drag = (dx, dy) => each((pane) => pane.drag(dx, dy));
    const views = Object.fromEntries(this.views.map((name, i) => [`${i + 1}`, () => this.setView(name)]));
    return {
      ...views, "0": each((pane) => pane.fit()), "+": each((pane) => pane.zoom(1.25)), "=": each((pane) => pane.zoom(1.25)), "-": each((pane) => pane.zoom(0.8)),
      ArrowLeft: drag(40, 0), ArrowRight: drag(-40, 0), ArrowUp: drag(0, 40), ArrowDown: drag(0, -40),
      e: tick("edges"), s: tick("stretch"), c: tick("cone"), l: tick("labels"), " ": () => this.replay?.toggle(), Escape: () => this.chooseNothing(),
    };
  }
}
