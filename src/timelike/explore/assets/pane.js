// One picture: the points of a model in WebGL, a canvas of ink above them, and pointer input.

import { Scale, paper, css, rgb } from "timelike/colours.js";
import { Renderer } from "timelike/gl.js";
import { drawInk, drawKey } from "timelike/ink.js";
import { Layout } from "timelike/layouts.js";
import { Flat, Orbit, toScreen } from "timelike/matrix.js";
import { CanvasPen, SvgPen } from "timelike/pens.js";

const REACH = 14; // a node this many pixels from the pointer is hit
const FOOT = 24; // pixels for the notes under an exported picture

export class Pane {
  /** `ask` has the callbacks choose(id) and name(id). */
  constructor(holder, about, options, ask) {
    Object.assign(this, { about, options, ask, chosen: null, pair: null, hovered: null, margins: { left: 44, right: 24, top: 30, bottom: 30 } });
    this.element = document.createElement("figure");
    this.element.className = "pane";
    this.element.tabIndex = 0;
    this.element.setAttribute("aria-label", `${about.nodes} nodes in ${about.space}; arrow keys pan, + and − zoom`);
    this.points = document.createElement("canvas");
    this.ink = document.createElement("canvas");
    this.picture = document.createElement("div");
    this.picture.className = "picture";
    this.picture.append(this.points, this.ink);
    this.caption = document.createElement("figcaption");
    this.element.append(this.picture, this.caption);
    holder.append(this.element);
    this.renderer = new Renderer(this.points);
    this.flat = new Flat();
    this.orbit = new Orbit();
    new ResizeObserver(() => this.resize()).observe(this.picture);
    this._listen();
  }

  setTable(table) {
    this.table = table;
    if (this.layout) this._place();
  }

  setView(name) {
    this.layout = new Layout(name, this.about, this.home ?? this.table);
    this.camera = this.layout.deep ? this.orbit : this.flat;
    this._place();
    this.fit();
  }

  _place() {
    this.at = this.layout.positions(this.table);
    this.renderer.setPoints(this.at);
    this.renderer.setLines(this._lines());
    this.draw();
  }

  setEdges(pairs) { this.pairs = pairs; if (this.layout) { this.renderer.setLines(this._lines()); this.draw(); } }

  _lines() {
    const found = [], { pairs = [] } = this;
    if (this.layout.name === "balls") return new Float32Array(found); // disks within disks show the edges
    for (let i = 0; i < pairs.length; i += 2)
      for (const line of this.layout.path(this.table, pairs[i], pairs[i + 1]))
        for (let k = 1; k < line.length; k++) found.push(...line[k - 1], ...line[k]);
    return new Float32Array(found);
  }

  setColour(label, values, categories) {
    this.scale = new Scale(label, values, categories);
    this.recolour();
  }

  recolour() {
    this.renderer.setColours(this.scale.shades());
    this.draw();
  }

  choose(found) { Object.assign(this, { chosen: found, pair: null }); this.draw(); }

  /** Draw the edge of the edge check: `source`, `target` and the `turn` of the time circle. */
  check(pair) {
    this.pair = pair;
    if (pair) this.reveal(pair.source.id);
    this.draw();
  }

  fit() {
    const { width, height } = this.size();
    const plain = this.layout.name === "diagram", margins = plain ? this.margins : { left: 20, right: 20, top: 30, bottom: 20 };
    this.camera.fit(this.layout.limits, width, height, margins, plain && this.options.stretch);
    const stretch = plain ? this.camera.stretch : 1, more = stretch > 1.02 || stretch < 0.98 ? [`space stretched ×${Number(stretch.toPrecision(2))}`] : [];
    this.notes = [...this.layout.notes(), ...more].join(" · ");
    this.caption.textContent = this.notes;
    this.caption.style.minHeight = `${this.caption.offsetHeight}px`; // other notes must not resize the picture
    this.draw();
  }

  /** Scroll a node into view. */
  reveal(id) {
    const { width, height } = this.size(), p = this.layout.of(this.table, id), at = toScreen(this.matrix, width, height, ...p);
    if (at.x < 40 || at.y < 40 || at.x > width - 40 || at.y > height - 40) this.camera.lookAt(p, width, height);
    this.draw();
  }

  size() { return { width: this.picture.clientWidth || 1, height: this.picture.clientHeight || 1 }; }

  resize() {
    const { width, height } = this.size(), ratio = Math.min(window.devicePixelRatio || 1, 2);
    for (const canvas of [this.points, this.ink]) Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    if (this.shape?.[0] !== width) this.caption.style.minHeight = "";
    if (this.layout && (!this.shape || Math.abs(this.shape[0] - width) + Math.abs(this.shape[1] - height) > 1)) this.fit();
    this.shape = [width, height];
    this.draw();
  }

  draw() {
    if (this.waiting || !this.layout || !this.scale) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
  }

  drawNow() {
    const { width, height } = this.size(), ratio = this.points.width / width;
    this.matrix = this.camera.matrix(width, height);
    this.renderer.draw(this._pointStyle(ratio));
    drawInk(new CanvasPen(this.ink.getContext("2d"), ratio, width, height), this, this.options);
  }

  _pointStyle(ratio) {
    const size = Math.min(9, Math.max(2.5, 60 / Math.sqrt(Math.sqrt(this.about.nodes)) / 2 + 1));
    const ink = [...rgb(css("edge")).map((x) => x / 255), this.chosen ? 0.16 : Math.min(0.6, Math.max(0.12, 60 / Math.sqrt(this.about.drawn_edges || 1) / 4))];
    return { matrix: this.matrix, size: size * ratio, alpha: this.chosen ? 0.35 : 1, deep: this.layout.deep, paper: paper(), ink, lines: this.options.edges };
  }

  /** The node nearest to a point on the screen, or null if none is within reach. */
  pick(px, py) {
    if (!this.matrix) return null;
    const { width, height } = this.size(), { at } = this, m = this.matrix;
    let best = null, least = REACH * REACH;
    for (let i = 0; i < at.length; i += 3) {
      const x = at[i], y = at[i + 1], z = at[i + 2], w = m[3] * x + m[7] * y + m[11] * z + m[15];
      const dx = ((m[0] * x + m[4] * y + m[8] * z + m[12]) / w / 2 + 0.5) * width - px;
      const dy = (0.5 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w / 2) * height - py;
      const far = dx * dx + dy * dy;
      if (far < least) { least = far; best = i / 3; }
    }
    return best;
  }

  _listen() {
    const held = new Map();
    let moved = 0, gap = 0;
    const place = (event) => { const box = this.picture.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top }; };
    this.ink.addEventListener("pointerdown", (event) => {
      this.ink.setPointerCapture(event.pointerId);
      held.set(event.pointerId, place(event));
      moved = gap = 0;
    });
    this.ink.addEventListener("pointermove", (event) => {
      const now = place(event), before = held.get(event.pointerId);
      if (!before) return this._hover(now);
      held.set(event.pointerId, now);
      moved += Math.hypot(now.x - before.x, now.y - before.y);
      if (held.size === 2) return this._pinch([...held.values()], (found) => { const factor = gap ? found / gap : 1; gap = found; return factor; });
      if (moved > 4) { this.drag(now.x - before.x, now.y - before.y, event.shiftKey || event.buttons === 2); }
      return undefined;
    });
    const release = (event) => {
      const at = held.get(event.pointerId);
      held.delete(event.pointerId);
      if (event.type === "pointerup" && at && moved <= 4) { const id = this.pick(at.x, at.y); this.ask.choose(id); }
    };
    this.ink.addEventListener("pointerup", release);
    this.ink.addEventListener("pointercancel", release);
    this.ink.addEventListener("pointerleave", () => this._hover(null));
    this.ink.addEventListener("contextmenu", (event) => event.preventDefault());
    this.ink.addEventListener("wheel", (event) => {
      event.preventDefault();
      const { x, y } = place(event);
      this.zoom(Math.exp(-event.deltaY / (event.deltaMode ? 20 : 400)), x, y);
    }, { passive: false });
  }

  _pinch([a, b], factor) {
    this.zoom(factor(Math.hypot(a.x - b.x, a.y - b.y)), (a.x + b.x) / 2, (a.y + b.y) / 2);
  }

  drag(dx, dy, shift = false) {
    const { width, height } = this.size();
    this.camera.drag(dx, dy, width, height, shift);
    this.draw();
  }

  zoom(factor, x, y) {
    const { width, height } = this.size();
    this.camera.zoom(factor, x ?? width / 2, y ?? height / 2, width, height);
    this.draw();
  }

  _hover(at) {
    const id = at ? this.pick(at.x, at.y) : null;
    if (id === (this.hovered?.id ?? null)) return;
    this.ink.style.cursor = id === null ? "grab" : "pointer";
    this.hovered = id === null ? null : { id, name: null };
    if (id !== null) this.ask.name(id).then((name) => { if (this.hovered?.id === id) { this.hovered.name = name; this.draw(); } }, () => {});
    this.draw();
  }

  /** The picture with legend and notes, as a canvas. */
  toCanvas() {
    const { width, height } = this.size(), ratio = this.points.width / width, out = document.createElement("canvas");
    this.drawNow();
    Object.assign(out, { width: this.points.width, height: this.points.height + Math.round(FOOT * ratio) });
    const context = out.getContext("2d"), pen = new CanvasPen(context, ratio, width, height + FOOT);
    context.fillStyle = css("canvas");
    context.fillRect(0, 0, width, height + FOOT);
    for (const layer of [this.points, this.ink]) context.drawImage(layer, 0, 0, width, height);
    drawKey(pen, this, height + FOOT / 2);
    return out;
  }

  /** The picture as SVG, with all visible nodes and lines. */
  toSvg() {
    const { width, height } = this.size(), pen = new SvgPen(width, height, css("canvas"), FOOT);
    const style = this._pointStyle(1), to = (i) => toScreen(this.matrix, width, height, this.at[i], this.at[i + 1], this.at[i + 2]);
    if (style.lines) {
      const lines = this._lines();
      for (let i = 0; i < lines.length; i += 6)
        pen.line([0, 3].map((k) => toScreen(this.matrix, width, height, lines[i + k], lines[i + k + 1], lines[i + k + 2])), { stroke: css("edge"), alpha: style.ink[3] });
    }
    for (let i = 0; i < this.at.length; i += 3) {
      const p = to(i);
      if (p.x > -9 && p.y > -9 && p.x < width + 9 && p.y < height + 9) pen.dot(p, style.size / 2, { fill: this.scale.of(i / 3), alpha: style.alpha });
    }
    drawInk(pen, this, this.options);
    drawKey(pen, this, height + FOOT / 2);
    return pen.toString();
  }
}
