// Everything drawn over the points: guides, axes, light cone, edges of a node, and names.

import { FUTURE, PAST, css, hex, kindColour, viridis } from "timelike/colours.js";
import { toScreen } from "timelike/matrix.js";
import { short } from "timelike/parts.js";

const ARROWS = 60, LIKELY = 6, FEW = 300;

/** Draw everything but the points of a pane. */
export function drawInk(pen, pane, { cone, edges, labels }) {
  const look = { text: css("text"), quiet: css("quiet"), line: css("line"), halo: css("canvas") };
  const at = (p) => toScreen(pane.matrix, pen.width, pen.height, ...p);
  if (pane.layout.name === "diagram") grid(pen, pane, look);
  const disks = pane.layout.name === "balls", shade = disks ? { fill: look.quiet, fillAlpha: 0.07 } : {};
  for (const guide of pane.layout.guides()) pen.line(guide.map(at), { stroke: look.line, width: 1, ...shade });
  const chosen = pane.chosen;
  if (chosen && cone) drawCone(pen, pane, at, chosen.id);
  if (chosen) drawEdges(pen, pane, at, look);
  else if (edges && !disks) drawHeads(pen, pane, at);
  if (pane.pair) drawPair(pen, pane, at, look);
  for (const [text, p] of pane.layout.marks()) pen.text(text, at(p), { fill: look.quiet, size: 12, align: "center", halo: look.halo });
  drawNames(pen, pane, at, look, labels);
  if (pane.layout.name === "diagram") axes(pen, pane, look);
}

function drawCone(pen, pane, at, id) {
  const { future, past, filled } = pane.layout.cone(pane.table, id);
  const draw = () => {
    for (const [outlines, colour] of [[past, PAST], [future, FUTURE]])
      outlines.forEach((outline, k) => {
        const line = outline.map(at), flat = pane.layout.name === "diagram";
        if (filled && (flat || k === 0)) pen.line(line, { fill: colour, fillAlpha: 0.14 });
        const stroked = flat ? [line[1], line[0], line[2]] : line; // the far side is not a boundary
        pen.line(stroked, { stroke: colour, width: filled ? 1.25 : 2, alpha: filled ? 0.8 : 0.9 });
      });
  };
  const { period, about: { wall } } = pane.layout;
  if (pane.layout.name !== "diagram" || !period) return draw();
  const side = wall ?? 99 * period, from = at([-side, period / 2, 0]), to = at([side, -period / 2, 0]);
  return pen.clip(from.x, from.y, to.x - from.x, to.y - from.y, draw);
}

/** Known edges as solid lines, predicted ones dashed; coloured by direction, out of the node or into it. */
function drawEdges(pen, pane, at, look) {
  const { chosen, layout, table } = pane, me = chosen.id;
  for (const [side, colour] of [["sources", PAST], ["targets", FUTURE]]) {
    const { known, new: likely } = chosen[side], few = known.length < 12;
    for (const row of [...likely.slice(0, LIKELY), ...known.slice(0, ARROWS)]) {
      const [a, b] = side === "targets" ? [me, row.id] : [row.id, me];
      const lines = layout.path(table, a, b, row.turns).map((line) => line.map(at));
      for (const line of lines) pen.line(line, { stroke: colour, width: row.known && few ? 1.8 : 1.2, alpha: 0.85, dash: row.known ? [] : [4, 4] });
      arrow(pen, lines.at(-1), colour, few ? 9 : 6);
    }
  }
  const spot = (id, radius, ring) => pen.dot(at(layout.of(table, id)), radius, { fill: pane.scale.of(id), stroke: ring, width: 1.5 });
  for (const side of ["sources", "targets"]) for (const row of [...chosen[side].new.slice(0, LIKELY), ...chosen[side].known.slice(0, ARROWS)]) spot(row.id, 4.5, look.halo);
  pen.dot(at(layout.of(table, me)), 8, { fill: null, stroke: look.text, width: 2 });
  spot(me, 5.5, look.halo);
}

/** Arrow heads on the edges of a small graph while no node is selected. */
function drawHeads(pen, pane, at) {
  const { layout, table, pairs = [] } = pane;
  if (pairs.length > 2 * FEW) return;
  for (let i = 0; i < pairs.length; i += 2) arrow(pen, layout.path(table, pairs[i], pairs[i + 1]).at(-1)?.map(at), css("edge"), 7);
}

/** The edge of the edge check. */
function drawPair(pen, pane, at, look) {
  const { layout, table, pair: { source, target, turn } } = pane;
  const lines = layout.path(table, source.id, target.id, turn).map((line) => line.map(at));
  for (const [stroke, width] of [[look.halo, 5], [look.text, 2]]) for (const line of lines) pen.line(line, { stroke, width });
  for (const { id } of [source, target]) pen.dot(at(layout.of(table, id)), 5.5, { fill: pane.scale.of(id), stroke: look.text, width: 2 });
  arrow(pen, lines.at(-1), look.text, 10);
}

function arrow(pen, line, colour, size) {
  if (!line || line.length < 2) return;
  const tip = line.at(-1);
  let k = line.length - 2;
  while (k > 0 && Math.hypot(tip.x - line[k].x, tip.y - line[k].y) < 10) k -= 1;
  const angle = Math.atan2(tip.y - line[k].y, tip.x - line[k].x), back = 6;
  const end = { x: tip.x - back * Math.cos(angle), y: tip.y - back * Math.sin(angle) };
  const side = (turn) => ({ x: end.x - size * Math.cos(angle + turn), y: end.y - size * Math.sin(angle + turn) });
  pen.line([end, side(0.42), side(-0.42), end], { fill: colour });
}

/** Names that fit: the selected node's, its neighbours', then those of the nodes with the most edges. */
function drawNames(pen, pane, at, look, labels) {
  const boxes = [], most = labels ? 28 : 0;
  const { left, right, top, bottom } = pane.margins;
  const write = (id, name, strong) => {
    const p = at(pane.layout.of(pane.table, id));
    if (p.x < left || p.x > pen.width - right || p.y < top || p.y > pen.height - bottom) return false;
    const size = strong ? 13 : 11.5, short = name.length > 24 ? `${name.slice(0, 23)}…` : name;
    const wide = short.length * size * 0.58 + 8, toLeft = p.x + wide + 10 > pen.width - right;
    const gap = strong ? 13 : 8, x = toLeft ? p.x - gap : p.x + gap;
    const box = [toLeft ? x - wide : x, p.y - 8, toLeft ? x : x + wide, p.y + 8];
    if (!strong && boxes.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3])) return false;
    boxes.push(box);
    pen.text(short, { x, y: p.y }, { fill: look.text, size, weight: strong ? 650 : 450, align: toLeft ? "right" : "left", halo: look.halo });
    return true;
  };
  const { chosen, hovered, pair } = pane;
  if (chosen) write(chosen.id, chosen.name, true);
  for (const { id, name } of pair ? [pair.source, pair.target] : []) if (id !== chosen?.id) write(id, name, true);
  if (hovered && hovered.name && hovered.id !== chosen?.id) write(hovered.id, hovered.name, true);
  let written = 0;
  if (chosen && labels)
    for (const side of ["targets", "sources"]) for (const row of [...chosen[side].known.slice(0, 12), ...chosen[side].new.slice(0, 6)]) written += write(row.id, row.name, false);
  if (!chosen) for (const [id, name] of pane.about.labels) { if (written >= most) break; written += write(id, name, false); }
}

/** The colour legend, and the notes at height `foot`, of an exported picture. */
export function drawKey(pen, { scale, notes }, foot) {
  const style = { fill: css("text"), size: 11, halo: css("canvas") }, write = (text, more = {}) => {
    const wide = 6.3 * text.length;
    pen.text(text, { x: x - wide, y: 15 }, { ...style, ...more });
    x -= wide + 8;
  };
  let x = pen.width - 12;
  if (scale.categories) [...scale.categories.entries()].reverse().forEach(([i, text]) => {
    write(text);
    pen.dot({ x, y: 15 }, 4, { fill: kindColour(i) });
    x -= 14;
  });
  else {
    write(short(scale.high));
    for (let k = 29; k >= 0; k--, x -= 3) pen.line([[0, 11], [3, 11], [3, 19], [0, 19]].map(([dx, y]) => ({ x: x - dx, y })), { fill: hex(viridis(k / 29)) });
    x -= 8;
    write(short(scale.low));
  }
  write(scale.label, { weight: 650 });
  pen.text(notes, { x: pen.width / 2, y: foot }, { fill: css("quiet"), size: Math.min(11, (1.9 * pen.width) / (notes.length + 1)), align: "center" });
}

// Axes of the diagram

function steps(low, high, count) {
  const rough = (high - low) / Math.max(count, 1), size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * size).find((s) => s >= rough);
  const found = [];
  for (let x = Math.ceil(low / step) * step; x <= high + 1e-9 * step; x += step) found.push(Math.abs(x) < step / 1e6 ? 0 : x);
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** Ticks along both axes: positions in pixels, and labels. */
function ticks({ camera }, width, height) {
  const along = (middle, size, scale, gap, way) => {
    const { found, digits } = steps(middle - size / 2 / scale, middle + size / 2 / scale, size / gap);
    return found.map((v) => ({ at: size / 2 + way * (v - middle) * scale, text: v.toFixed(digits).replace("-", "−") }));
  };
  return { across: along(camera.x, width, camera.across, 110, 1), up: along(camera.y, height, camera.scale, 80, -1) };
}

function grid(pen, pane, look) {
  const { across, up } = ticks(pane, pen.width, pen.height), style = { stroke: look.line, alpha: 0.55 };
  for (const { at } of across) pen.line([{ x: at, y: 0 }, { x: at, y: pen.height }], style);
  for (const { at } of up) pen.line([{ x: 0, y: at }, { x: pen.width, y: at }], style);
}

function axes(pen, pane, look) {
  const { across, up } = ticks(pane, pen.width, pen.height), style = { fill: look.quiet, size: 11, halo: look.halo };
  const name = `${pane.about.axes[0]} →`, end = pen.width - 12 - 7 * name.length - 20;
  for (const { at, text } of across) if (at > 60 && at < end) pen.text(text, { x: at, y: pen.height - 12 }, { ...style, align: "center" });
  for (const { at, text } of up) if (at > 34 && at < pen.height - 30) pen.text(text, { x: 10, y: at }, style);
  pen.text(`${pane.about.axes[1]} ↑`, { x: 10, y: 16 }, { ...style, fill: look.text, size: 12 });
  pen.text(name, { x: pen.width - 12, y: pen.height - 12 }, { ...style, fill: look.text, size: 12, align: "right" });
}
