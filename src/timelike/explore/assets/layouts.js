// Positions of nodes, edges and light cones in each view, with the formulas of timelike.plot.scenes.
// A node has four numbers: time, space, second direction of space, and depth (anti-de Sitter only).

export const LABELS = { diagram: "Spacetime", space: "3-D", rolled: "Cylinder", polar: "Polar", disk: "Disk", balls: "Nested balls" };
const STEPS = 24, RIMS = 1500;

const wrap = (t, period) => (period ? t - period * Math.round(t / period) : t);
const between = (a, b, n = STEPS) => Array.from({ length: n + 1 }, (_, i) => a + ((b - a) * i) / n);
const extent = (xs, pad = 0) => {
  let low = Infinity, high = -Infinity;
  for (const x of xs) { if (x < low) low = x; if (x > high) high = x; }
  if (!(low <= high)) [low, high] = [-1, 1];
  const room = pad * (high - low) || 0.5 * pad;
  return [low - room, high + room];
};

/** The range of the values without a few distant outliers, which would make the rest too small. */
const body = (xs) => {
  if (xs.length < 200) return extent(xs, 0.06);
  const sorted = Float64Array.from(xs).sort(), at = (share) => sorted[Math.floor(share * (xs.length - 1))];
  const wide = at(0.995) - at(0.005), ends = [[sorted[0], at(0.005), -1], [sorted[xs.length - 1], at(0.995), 1]];
  return extent(ends.map(([end, most, way]) => (Math.abs(end - most) <= wide ? end : most + 0.25 * way * wide)), 0.06);
};

/** One view of a model; `about` is its description, `table` its nodes. */
export class Layout {
  constructor(name, about, table) {
    Object.assign(this, { name, about, period: about.period });
    this.deep = name === "rolled" || name === "space";
    this.turn = this.period ? (2 * Math.PI) / this.period : 0;
    const column = (k) => Array.from({ length: table.length / 4 }, (_, i) => table[4 * i + k]);
    this.deepest = name === "polar" ? Math.max(1.08 * extent(column(3))[1], 0.2) : 0;
    const [low, high] = extent(column(1));
    this.reach = Math.max(1.1 * Math.max(-low, high), this.turn ? 0.6 / this.turn : 0);
    if (about.wall) this.reach = Math.min(this.reach, 1.4); // the hyperboloid is infinite
    this.limits = this._limits(column);
  }

  _limits(column) {
    const { name } = this;
    if (name === "polar") return this._around(1.16 * (0.45 * this.deepest + this.deepest), column);
    if (name === "rolled") {
      const points = this.guides().flat();
      return [0, 1, 2].map((k) => extent(points.map((p) => p[k])));
    }
    if (name === "balls") return [[-1, 1], [-1, 1]];
    const time = body(column(0));
    if (name === "space") return [body(column(1)), body(column(2)), time];
    if (name === "disk") {
      const times = column(0), outer = extent(column(1).map((x, i) => Math.hypot(...this._disk(x, times[i]))))[1];
      const radius = Math.min(1.04, 1.1 * outer + 0.01);
      return [[-radius, radius], [-radius, radius]];
    }
    return [body(column(1)), time];
  }

  /** The whole time circle, or only the region of the nodes if that is a small part of it. */
  _around(radius, column) {
    const theta = column(0), places = column(3).map((depth, i) => this._polar(depth, theta[i]));
    const found = [0, 1].map((k) => extent(places.map((p) => p[k]), 0.25));
    const side = Math.max(...found.map(([a, b]) => b - a)) / 2;
    this.part = side < radius / 2;
    return this.part ? found.map(([a, b]) => [(a + b) / 2 - side, (a + b) / 2 + side]) : [[-radius, radius], [-radius, radius]];
  }

  /** Whether equal scales would make the picture a thin strip. */
  get thin() {
    const [wide, high] = this.limits.map(([a, b]) => b - a);
    return this.name === "diagram" && this.about.nodes >= 50 && (wide < 0.2 * high || high < 0.1 * wide);
  }

  /** x, y, z of a node. */
  place(time, space, second, depth) {
    switch (this.name) {
      case "space": return [space, second, time];
      case "rolled": return this._surface(space, time);
      case "polar": return this._polar(depth, time);
      case "disk": return [...this._disk(space, time), 0];
      default: return [space, time, 0];
    }
  }

  of(table, i) {
    if (this.name === "balls") return this._ball(i);
    return this.place(table[4 * i], table[4 * i + 1], table[4 * i + 2], table[4 * i + 3]);
  }

  /** A node in its disk: in the middle if it holds no other, else on top of its rim. */
  _ball(i) {
    const [x, y, radius] = this.about.balls[i];
    return [x, y + (this._holds(i) ? radius : 0), 0];
  }

  _holds(i) {
    this.least ??= Math.min(...this.about.balls.map(([, , radius]) => radius));
    return this.about.balls[i][2] > 1.01 * this.least;
  }

  /** The rim of the disk of a node, which is the light cone of its event at one time. */
  _rim(i) {
    const [x, y, radius] = this.about.balls[i];
    return between(0, 2 * Math.PI, 72).map((a) => [x + radius * Math.cos(a), y + radius * Math.sin(a), 0]);
  }

  positions(table) {
    const n = table.length / 4, out = new Float32Array(3 * n);
    for (let i = 0; i < n; i++) out.set(this.of(table, i), 3 * i);
    return out;
  }

  _surface(space, time) {
    const radius = this.about.wall ? 1 / Math.cos(space) : 1 / this.turn;
    const along = this.about.wall ? Math.tan(space) : space;
    return [radius * Math.cos(this.turn * time), radius * Math.sin(this.turn * time), along];
  }

  _polar(depth, theta) {
    const radius = 0.45 * this.deepest + depth;
    return [radius * Math.cos(theta), radius * Math.sin(theta), 0];
  }

  _disk(space, time) {
    const up = Math.sinh(time / this.about.radius), full = Math.sqrt(1 + space * space + up * up);
    return [space / (1 + full), up / (1 + full)];
  }

  /** The lines of an edge; several if it leaves the cut-open time circle and re-enters. */
  path(table, i, j, turns = 0) {
    if (this.name === "balls") return [[this._ball(i), this._ball(j)]];
    const a = table.subarray(4 * i, 4 * i + 4), b = table.subarray(4 * j, 4 * j + 4);
    let step = b[0] - a[0];
    if (this.period) step = wrap(step, this.period) + this.period * turns;
    const mix = (s, k) => a[k] + s * (b[k] - a[k]);
    if (this.name === "rolled" || this.name === "polar")
      return [between(0, 1).map((s) => this.place(a[0] + s * step, mix(s, 1), 0, mix(s, 3)))];
    if (this.name === "disk") return [this._geodesic(a, b)];
    const ends = [0, 1].map((s) => this.place(a[0] + s * step, mix(s, 1), mix(s, 2), 0));
    return this.period ? this._copies(ends) : [ends];
  }

  _geodesic(a, b) {
    const full = ([time, space]) => {
      const up = Math.sinh(time / this.about.radius);
      return [Math.sqrt(1 + space * space + up * up), space, up];
    };
    const p = full(a), q = full(b);
    return between(0, 1).map((s) => {
      const [t, x, y] = p.map((u, k) => u + s * (q[k] - u)), size = Math.sqrt(t * t - x * x - y * y);
      return [x / (size + t), y / (size + t), 0];
    });
  }

  /** A line shifted by whole turns to every visible place and clipped there; the part with its end comes last. */
  _copies(line) {
    const up = this.name === "space" ? 2 : 1, half = this.period / 2, found = [], last = [];
    for (let k = -3; k <= 3; k++) {
      const [p, q] = line.map((x) => x.map((v, c) => (c === up ? v + k * this.period : v)));
      const rise = q[up] - p[up];
      let [from, to] = [0, 1];
      if (rise) {
        const cuts = [(-half - p[up]) / rise, (half - p[up]) / rise];
        from = Math.max(0, Math.min(...cuts));
        to = Math.min(1, Math.max(...cuts));
      } else if (Math.abs(p[up]) > half) continue;
      if (from >= to) continue;
      (to === 1 ? last : found).push([from, to].map((s) => p.map((v, c) => v + s * (q[c] - v))));
    }
    return [...found, ...last];
  }

  /** The outlines of a node's future and past; `filled` if they enclose areas. */
  cone(table, i) {
    const { light } = this.about, none = { future: [], past: [], filled: false };
    if (this.name === "balls") return { future: [this._rim(i)], past: [], filled: true };
    if (!light && this.name !== "polar") return none;
    const [time, space, second, depth] = table.subarray(4 * i, 4 * i + 4);
    const ways = [1, -1].map((way) => {
      if (this.name === "diagram") return this._triangles(space, time, way);
      if (this.name === "rolled") return this._rays(space, time, way);
      if (this.name === "polar") return this._polarRays(depth, time, way);
      return this.name === "space" && !this.about.wall ? this._wide(space, second, time, way) : [];
    });
    return { future: ways[0], past: ways[1], filled: this.name === "diagram" || this.name === "space" };
  }

  _triangles(space, time, way) {
    const { period } = this;
    const height = period ? period / 2 : 40 * Math.max(...this.limits.map(([a, b]) => b - a));
    const triangle = [[space, time], [space + height, time + way * height], [space - height, time + way * height]];
    return (period ? [-1, 0, 1] : [0]).map((k) => triangle.map(([x, t]) => [x, t + k * (period ?? 0), 0]));
  }

  _rays(space, time, way) {
    return [1, -1].map((side) => {
      const end = Math.min(this.period / 2, this.reach - side * space);
      return between(0, end, 64).map((run) => this._surface(space + side * run, time + way * run));
    });
  }

  _polarRays(depth, theta, way) {
    const sigma = Math.acos(1 / Math.cosh(depth)), end = Math.acos(1 / Math.cosh(this.deepest));
    return [end, -end].map((target) =>
      between(sigma, target, 64).map((s) => this._polar(Math.acosh(1 / Math.cos(s)), theta + way * Math.abs(s - sigma))));
  }

  /** The cone |Δx| = ±Δt over two directions of space: its rim and a few rays. */
  _wide(space, second, time, way) {
    const height = Math.min(0.25 * (this.limits[2][1] - this.limits[2][0]), (this.period ?? Infinity) / 2);
    const rim = between(0, 2 * Math.PI, 48).map((a) =>
      [space + height * Math.cos(a), second + height * Math.sin(a), time + way * height]);
    const rays = rim.filter((_, k) => k % 6 === 0).map((p) => [[space, second, time], p]);
    return [rim, ...rays];
  }

  /** Background lines. */
  guides() {
    const { name, about, period } = this;
    if (name === "balls") return this.rims ??= this._rims();
    if (name === "rolled") {
      const circle = between(0, period, 60);
      const rings = between(-this.reach, this.reach, 6).map((x) => circle.map((t) => this._surface(x, t)));
      const bars = circle.slice(0, -1).filter((_, k) => k % 5 === 0);
      return [...rings, ...bars.map((t) => between(-this.reach, this.reach, 20).map((x) => this._surface(x, t)))];
    }
    if (name === "polar") {
      const circle = between(0, 2 * Math.PI, 120);
      return [0, this.deepest / 2, this.deepest].map((d) => circle.map((t) => this._polar(d, t)));
    }
    if (name === "disk") {
      return [1, 2, 3, 4].map((d) => Math.tanh(d / 2)).concat(1)
        .map((r) => between(0, 2 * Math.PI, 120).map((a) => [r * Math.cos(a), r * Math.sin(a), 0]));
    }
    if (name === "space") {
      const [[x0, x1], [y0, y1], [t0, t1]] = this.limits;
      const floor = [[x0, y0, t0], [x1, y0, t0], [x1, y1, t0], [x0, y1, t0], [x0, y0, t0]];
      return [floor, [[x0, y0, t0], [x0, y0, t1]]];
    }
    const walls = about.wall ? [-about.wall, about.wall].map((x) => [[x, -period / 2, 0], [x, period / 2, 0]]) : [];
    const side = about.wall ?? 9 * period;
    const cuts = period ? [-period / 2, period / 2].map((t) => [[-side, t, 0], [side, t, 0]]) : [];
    return [...walls, ...cuts];
  }

  /** The rims of the largest disks that hold others, from the outside in. */
  _rims() {
    const { balls } = this.about, holding = balls.map((_, i) => i).filter((i) => this._holds(i));
    return holding.sort((i, j) => balls[j][2] - balls[i][2]).slice(0, RIMS).map((i) => this._rim(i));
  }

  /** Background texts and their positions. */
  marks() {
    if (this.name === "polar") {
      const rim = 1.09 * this.deepest;
      return [["θ = 0", 0], ["π/2", Math.PI / 2], ["π", Math.PI], ["−π/2", -Math.PI / 2]].map(([text, t]) => [text, this._polar(rim, t)]);
    }
    if (this.name === "space") {
      const [[x0, x1], [y0, y1], [t0, t1]] = this.limits;
      return [[`${this.about.clock} ↑`, [x0, y0, t1]], ["space 1", [(x0 + x1) / 2, y0, t0]], ["space 2", [x0, (y0 + y1) / 2, t0]]];
    }
    return [];
  }

  /** Notes under the picture. */
  notes() {
    const { about, name } = this, percent = (x) => `${Math.round(100 * x)}% of its variance not shown`;
    const lost = { diagram: about.lost, rolled: about.lost, disk: about.lost, space: about.lost_in_3d }[name] ?? 0;
    const found = [];
    if (name === "balls") return ["each disk holds its descendants: light cones that end at one time, seen along time; a node with several parents lies in one of them"];
    if (name === "rolled") found.push("time runs around the axis, space along it");
    if (name === "polar") found.push(`angle: time; radius: spatial distance from the centre, in any direction${this.part ? "; zoom out to see the whole circle" : ""}`);
    if (name === "disk") found.push(`${about.clock} runs upwards; circles at distance 1, 2, … from the origin`);
    if (about.clock !== "time") found.push("this model has no time, so its edges have no direction");
    if (name === "diagram" && this.period) found.push("time is a circle, cut open: top and bottom coincide");
    if (name === "space") found.push(`${about.clock} runs upwards; space: two main directions${lost > 0.005 ? `, ${percent(lost)}` : ""}`);
    else if (lost > 0.005) found.push(`space: main direction, ${percent(lost)}`);
    return found;
  }
}
