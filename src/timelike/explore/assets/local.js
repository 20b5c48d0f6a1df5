// Replies of a page that contains its models: the same as those of timelike.explore.answers.

import { Model } from "timelike/model.js";
import { Refused } from "timelike/source.js";

const MOST = 100;

function decoded(text, kind) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new kind(bytes.buffer);
}

/** The names most similar to a text: those that share the most pairs of letters with it. */
function nearest(names, text) {
  const pairs = (word) => { const found = new Set(); for (let i = 0; i <= word.length; i++) found.add(` ${word} `.slice(i, i + 2)); return found; };
  const wanted = pairs(text.toLowerCase());
  const score = (name) => { const own = pairs(name.toLowerCase()); let both = 0; for (const x of own) both += wanted.has(x); return (2 * both) / (own.size + wanted.size); };
  return names.map((name) => [score(name), name]).filter(([s]) => s > 0.2).sort((a, b) => b[0] - a[0]).slice(0, 3).map(([, name]) => name);
}

class LocalModel {
  constructor(data) {
    this.data = data;
    this.names = data.names;
    this.number = new Map(data.names.map((name, i) => [name, i]));
    this.count = data.names.length;
    const points = decoded(data.points, Float32Array);
    this.model = new Model(data, points, points.length / this.count);
    this.pairs = decoded(data.edges, Int32Array);
    this.out = Array.from({ length: this.count }, () => []);
    this.into = Array.from({ length: this.count }, () => []);
    for (let i = 0; i < this.pairs.length; i += 2) {
      this.out[this.pairs[i]].push(this.pairs[i + 1]);
      this.into[this.pairs[i + 1]].push(this.pairs[i]);
    }
    this.positions = decoded(data.positions, Float32Array);
  }

  id(node) {
    if (typeof node === "number") return node;
    const found = this.number.get(node);
    if (found === undefined) {
      throw new Refused(`there is no node '${node}'`, nearest(this.names, node));
    }
    return found;
  }

  best(scores, count, without) {
    const left = [];
    for (let i = 0; i < this.count; i++) if (!without.has(i)) left.push(i);
    return left.sort((a, b) => scores[b] - scores[a] || a - b).slice(0, count);
  }

  node(node, most) {
    const id = this.id(node), found = { id, name: this.names[id], time: this.positions[4 * id] };
    found.coordinates = this.model.point(id).map((x, k) => [this.data.coordinates[k], x]);
    for (const [side, incoming, edges] of [["targets", false, this.out[id]], ["sources", true, this.into[id]]]) {
      const scores = this.model.scores(id, incoming), known = new Set(edges);
      const without = [id, ...this.data.strangers[incoming ? 0 : 1]];
      const row = (i) => ({
        id: i, name: this.names[i], p: this.model.prob(scores[i]), known: known.has(i),
        turns: incoming ? this.model.turns(i, id) : this.model.turns(id, i),
      });
      found[side] = {
        all: this.best(scores, most, new Set(without)).map(row),
        new: this.best(scores, most, new Set([...without, ...edges])).map(row),
        known: [...edges].sort((a, b) => scores[b] - scores[a]).slice(0, MOST).map(row),
        total: edges.length,
      };
    }
    return found;
  }

  way(a, b) {
    const out = this.model.scores(a, false), into = this.model.scores(b, true);
    const place = (scores, other, own, known) => {
      const hidden = new Set([own, ...known]);
      let better = 0, equal = 0, of = 0;
      for (let i = 0; i < this.count; i++) {
        if (hidden.has(i) && i !== other) continue;
        of += 1;
        if (scores[i] > scores[other]) better += 1;
        else if (i !== other && scores[i] === scores[other]) equal += 1;
      }
      return { place: better + equal / 2 + 1, of };
    };
    const node = (id) => ({ id, name: this.names[id] });
    const found = {
      source: node(a), target: node(b), p: this.model.prob(out[b]), model: Math.exp(out[b]), known: this.out[a].includes(b),
      why: {
        formula: this.model.likelihood.formula,
        images: this.model.images(a, b).map(({ turn, interval, time, factors, logF }) => ({
          turn, interval, time, p: Math.exp(logF),
          factors: Object.fromEntries(Object.entries(factors).map(([name, x]) => [name, Math.exp(x)])),
        })),
      },
    };
    if (a !== b) Object.assign(found, { among_targets: place(out, b, a, this.out[a]), among_sources: place(into, a, b, this.into[b]) });
    return found;
  }
}

export class Local {
  constructor(data) { this.models = data.map((one) => new LocalModel(one)); }

  async about() { return { models: this.models.map(({ data }) => ({ ...data.about, alone: null })) }; }
  async positions(m) { return this.models[m].positions; }
  async colour(m, i) { return decoded(this.models[m].data.colours[i], Float32Array); }
  async edges(m) { return this.models[m].data.about.drawn_edges ? this.models[m].pairs : new Int32Array(); }
  async frames(m) { return decoded(this.models[m].data.frames, Float32Array); }

  async search(m, text, most = 12) {
    const wanted = text.trim().toLowerCase(), begin = [], inside = [];
    if (!wanted) return [];
    this.models[m].names.forEach((name, id) => {
      const at = name.toLowerCase().indexOf(wanted);
      if (at === 0) begin.push({ id, name });
      else if (at > 0 && inside.length < most) inside.push({ id, name });
    });
    begin.sort((a, b) => a.name.length - b.name.length || a.id - b.id);
    return [...begin.slice(0, most), ...inside].slice(0, most);
  }

  async names(m, ids) { return ids.map((id) => this.models[m].names[id]); }
  async node(m, node, most = 20) { return this.models[m].node(node, most); }

  async pair(m, a, b) {
    const model = this.models[m], [source, target] = [model.id(a), model.id(b)];
    return { forward: model.way(source, target), backward: model.way(target, source), calibration: model.data.about.calibration };
  }

  async likeliest(m) { return this.models[m].data.likeliest; }

  async table(m, node, most = 100) {
    const { name, targets, sources } = this.models[m].node(node, most), cell = (text) => text.trim().split(/\s+/).join(" ");
    const rows = [...targets.new.map((row) => [name, row.name, row.p]), ...sources.new.map((row) => [row.name, name, row.p])];
    const lines = rows.map(([a, b, p]) => `${cell(a)}\t${cell(b)}\t${Number(p.toPrecision(7))}\n`);
    return `source\ttarget\tprobability\n${lines.join("")}`;
  }

  async page() { return `<!doctype html>\n${this.html}`; }
}
