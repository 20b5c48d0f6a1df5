// The side panel: the model, a node, and the edge check.

import { NameField, bar, chance, complaint, count, digits, make, ordinal, percent, short } from "timelike/parts.js";

const badge = () => make("span", { class: "badge", title: "The model was given this edge" }, "known");

/** Facts about the models, and their likeliest missing edges. */
export function modelPanel(holder, models, { likeliest, check }) {
  holder.replaceChildren(...models.map((about, m) => {
    const facts = [
      ["Nodes", about.nodes.toLocaleString("en")],
      ["Known edges", about.edges === null ? "not saved with the model" : about.edges.toLocaleString("en")],
      ["Spacetime", `${about.space}, d = ${about.dim}`],
      ["Likelihood", about.likelihood],
      ["Probabilities", about.calibration ?? "not calibrated"],
    ];
    facts.push(...measured(about));
    const simple = Object.entries(about.facts.baselines ?? {}).sort((a, b) => b[1] - a[1]);
    if (simple.length) facts.push(["Simple methods, AP", simple.slice(0, 4).map(([name, ap]) => `${name} ${ap.toFixed(3)}`).join(", ")]);
    if (about.facts.reason) facts.push(["Choice of geometry", about.facts.reason]);
    const list = make("div", { class: "rows", "aria-busy": "true" }, make("p", { class: "empty" }, "Ranking all pairs…"));
    likeliest(m).then((rows) => {
      list.removeAttribute("aria-busy");
      if (!rows.length) return list.replaceChildren(make("p", { class: "empty" }, "This graph has too many pairs to rank here. Run ", make("code", {}, "timelike predict MODEL --all"), ", or select a node to see its likeliest edges."));
      return list.replaceChildren(...rows.map((row) => make("button", { type: "button", class: "row", title: chance(row), onclick: () => check(row.source.name, row.target.name) },
        make("span", { class: "name" }, `${row.source.name} → ${row.target.name}`), bar(row.p), make("span", { class: "p" }, chance(row)))));
    }, (error) => list.replaceChildren(complaint(error)));
    return make("section", { class: "model" },
      make("h2", {}, about.title),
      make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
      make("h3", {}, "Likeliest missing edges"), list);
  }));
}

/** What validation measured: of the joint model and of the geometry alone. */
function measured({ joint, facts }) {
  const found = [], alone = facts.valid_ap;
  if (joint) {
    found.push([`Right among the top ${joint.listed}`, `about ${Math.round(100 * joint.precision)} % in validation`]);
    if (joint.valid_ap !== null) found.push(["Validation AP", `${joint.valid_ap.toFixed(3)}${alone === undefined ? "" : `; geometry alone ${alone.toFixed(3)}`}`]);
  } else if (alone !== undefined) found.push(["Validation AP", alone.toFixed(3)]);
  return found;
}

/** A node: position, likely edges and known edges. `state.which` is the displayed model of several. */
export function nodePanel(holder, nodes, state, act) {
  const node = nodes[state.which] ?? nodes.find(Boolean);
  if (!node) {
    holder.replaceChildren(make("p", { class: "empty" }, "Click a node or search for one to see its light cone and likely edges."));
    return;
  }
  const several = nodes.length > 1;
  const tabs = several ? make("div", { class: "segments wide", role: "group", "aria-label": "Model" }, ...nodes.map((other, m) =>
    make("button", { type: "button", textContent: act.about(m).title, disabled: !other, "aria-pressed": String(other === node), onclick: () => act.show(m) }))) : null;
  const facts = [`${act.about(nodes.indexOf(node)).clock} ${digits(node.time)}`, `${node.targets.total} out`, `${node.sources.total} in`];
  holder.replaceChildren(
    make("h2", { class: "node-name" }, node.name),
    make("p", { class: "sub" }, facts.join(" · ")),
    ...(tabs ? [tabs] : []),
    make("div", { class: "actions" },
      make("button", { type: "button", onclick: () => act.from(node.name) }, "Check an edge"),
      make("button", { type: "button", onclick: act.table }, "TSV"),
      make("label", { class: "check" }, make("input", { type: "checkbox", id: "only-new", checked: state.onlyNew, onchange: (event) => act.onlyNew(event.target.checked) }), " only new")),
    side("Likely targets", "targets", node, state, act),
    side("Likely sources", "sources", node, state, act),
    known(node, act),
    make("details", {}, make("summary", {}, "Coordinates"),
      make("table", { class: "numbers" }, ...node.coordinates.map(([name, x]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, digits(x)))))));
}

function rows(list, node, outgoing, act) {
  return list.map((row) => make("div", { class: "row", "data-name": row.name, "data-p": row.p },
    make("button", { type: "button", class: "name link", title: `Go to ${row.name}`, onclick: () => act.go(row.name) }, row.name),
    row.known ? badge() : null, bar(row.p, outgoing ? "out" : "into"),
    make("span", { class: "p" }, chance(row)),
    make("button", { type: "button", class: "why", title: "Explain this probability", "aria-label": `why ${outgoing ? `${node.name} → ${row.name}` : `${row.name} → ${node.name}`}`, onclick: () => (outgoing ? act.check(node.name, row.name) : act.check(row.name, node.name)) }, "why")));
}

function side(title, name, node, state, act) {
  const list = node[name][state.onlyNew ? "new" : "all"];
  return make("section", { class: "likely", id: `likely-${name}` }, make("h3", {}, title),
    list.length ? make("div", { class: "rows" }, ...rows(list, node, name === "targets", act)) : make("p", { class: "empty" }, "No other nodes."));
}

function known(node, act) {
  const part = (name) => {
    const { known: list, total } = node[name];
    if (!total) return make("p", { class: "empty" }, `No known ${name}`);
    const more = total > list.length ? `, ${list.length} likeliest shown` : "";
    return make("section", {}, make("h4", {}, `${count(total, name.slice(0, -1))}${more}`), make("div", { class: "rows" }, ...rows(list, node, name === "targets", act)));
  };
  return make("details", {}, make("summary", {}, `Known edges (${node.targets.total + node.sources.total})`), part("targets"), part("sources"));
}

/** The edge check: two names, and the probabilities of every model. */
export class PairPanel {
  constructor(holder, { search, ask, about, several }) {
    Object.assign(this, { ask, about, several });
    const field = (id, label) => {
      const place = make("div", { class: "search" });
      const made = new NameField(place, { id, label, placeholder: label, search, choose: () => this.run() });
      return [made, place];
    };
    const [source, sourcePlace] = field("source", "Source"), [target, targetPlace] = field("target", "Target");
    Object.assign(this, { source, target });
    this.result = make("div", { class: "result", "aria-live": "polite" }, make("p", { class: "empty" }, "Enter two names to see how likely an edge is in each direction, and why."));
    holder.replaceChildren(
      make("form", { class: "pair", onsubmit: (event) => { event.preventDefault(); this.run(); } },
        sourcePlace, make("button", { type: "button", class: "swap", title: "Swap", "aria-label": "Swap", onclick: () => this.set(this.target.value, this.source.value) }, "⇅"),
        targetPlace, make("button", { type: "submit", class: "main" }, "Check")),
      this.result);
  }

  set(source, target) {
    Object.assign(this.source, { value: source });
    Object.assign(this.target, { value: target });
    if (source && target) return this.run();
    this.result.replaceChildren(make("p", { class: "empty" }, "Enter the other name."));
    return (source ? this.target : this.source).input.focus();
  }

  async run() {
    const [a, b] = [this.source.value, this.target.value];
    if (!a || !b) return (a ? this.target : this.source).input.focus();
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      const found = await this.ask(a, b);
      if (turn === this.turn) this.result.replaceChildren(...found.map((one, m) => this._one(one, m)));
    } catch (error) {
      const wrong = (error.message.includes(`'${b}'`) && !error.message.includes(`'${a}'`)) ? this.target : this.source;
      if (turn === this.turn) this.result.replaceChildren(complaint(error, (name) => { wrong.value = name; this.run(); }));
    }
    return undefined;
  }

  _one(found, m) {
    const head = this.several ? [make("h3", {}, this.about(m).title)] : [];
    if (found instanceof Error) return make("section", {}, ...head, complaint(found));
    return make("section", { class: "checked" }, ...head, way(found.forward, true), way(found.backward, false),
      make("p", { class: "sub" }, `Probabilities: ${found.calibration ?? "not calibrated"}.`), ...reasons(found.forward), why(found.forward, this.about(m)));
  }
}

function way(found, main) {
  const places = found.among_targets ? make("ul", { class: "places" },
    make("li", {}, `${ordinal(found.among_targets.place)} of ${found.among_targets.of.toLocaleString("en")} possible targets of ${found.source.name}`),
    make("li", {}, `${ordinal(found.among_sources.place)} of ${found.among_sources.of.toLocaleString("en")} possible sources of ${found.target.name}`)) : null;
  const differs = Math.abs(found.model - found.p) > 1e-12, before = found.joint ? "by the geometry alone, not calibrated" : "before calibration";
  return make("div", { class: main ? "way main" : "way", "data-p": found.p, "data-model": found.model },
    make("p", { class: "ends" }, `${found.source.name} → ${found.target.name} `, found.known ? badge() : null),
    make("p", { class: "big" }, make("span", { class: "value" }, chance(found)), make("span", { class: "share" }, percent(found.p))),
    bar(found.p), differs ? make("p", { class: "sub" }, `${digits(found.model, 3)} ${before}`) : null, places);
}

/** What each kind of evidence adds to the log-odds of an edge. */
function reasons({ joint, source, target }) {
  if (!joint) return [];
  const most = Math.max(...joint.reasons.map(({ contribution }) => Math.abs(contribution)), 1e-9);
  const signed = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(2)}`;
  const rows = joint.reasons.map(({ group, contribution, strongest, value }) => make("tr", { "data-group": group, "data-value": contribution },
    make("th", { scope: "row" }, group), make("td", { class: "p" }, signed(contribution)),
    make("td", { class: "hint" }, make("span", {}, bar(Math.abs(contribution) / most, contribution < 0 ? "into" : "out"), `${strongest}: ${short(value)}`))));
  return [make("section", { class: "why joint" }, make("h3", {}, `Why ${source.name} → ${target.name}`),
    make("table", { class: "numbers reasons" }, ...rows),
    make("p", { class: "sub" }, `Contributions to the log-odds, which are ${signed(joint.base)} for an average pair.`))];
}

/** The image of the target that contributes most. */
export const likeliest = (images) => images.reduce((a, b) => (b.p > a.p ? b : a));
const turns = ({ turn }) => `${turn > 0 ? "+" : turn < 0 ? "−" : ""}${Math.abs(turn)}`;

/** The interval, Δt and the factors that make the edge likely or unlikely. */
function why({ why: { formula, images }, source, target, joint }, { cones, clock }) {
  const best = likeliest(images), timelike = best.time > 0 ? "timelike, in the future" : "timelike, in the past";
  const meaning = !cones ? "squared distance" : best.interval < 0 ? timelike : "spacelike: outside the light cone";
  const names = Object.keys(best.factors), hints = { "F₁": cones ? "inside the light cone" : "near", "F₂": "not in the past", "F₃": "not in the far future", F: "near" };
  if (names.length === 2 && formula.startsWith("2")) hints["F₂"] = "not in the far future";
  const line = (name, value, hint, p) => make("tr", { "data-name": name, "data-value": value }, make("th", { scope: "row" }, name), make("td", { class: "p" }, digits(value)), make("td", { class: "hint" }, p === undefined ? hint : make("span", {}, bar(p), hint)));
  const table = make("table", { class: "numbers why" },
    line("s²", best.interval, meaning), clock === "time" ? line("Δt", best.time, best.turn ? `${turns(best)} turn${Math.abs(best.turn) === 1 ? "" : "s"} of the time circle` : "") : null,
    ...names.map((name) => line(name, best.factors[name], hints[name] ?? "", best.factors[name])), line("F", best.p, formula));
  const others = images.length > 1 ? make("details", {}, make("summary", {}, `Sum over ${images.length} images of the target`), make("table", { class: "numbers" },
    make("tr", {}, ...["turn", "s²", "Δt", "F"].map((text) => make("th", { class: "p" }, text))),
    ...images.map((x) => make("tr", {}, make("td", { class: "p" }, turns(x)), ...[x.interval, x.time, x.p].map((v) => make("td", { class: "p" }, digits(v))))))) : null;
  return make("section", { class: "why" }, make("h3", {}, `${joint ? "Geometry of" : "Why"} ${source.name} → ${target.name}`), table, others);
}
