// The same drawing operations on a canvas and in an SVG file.

const number = (x) => x.toFixed(2).replace(/\.?0+$/, "");
const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export class CanvasPen {
  constructor(context, ratio, width, height) {
    Object.assign(this, { context, width, height });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.lineJoin = context.lineCap = "round";
  }

  line(points, { stroke, width = 1, alpha = 1, dash = [], fill = null, fillAlpha = 1 }) {
    const { context } = this;
    if (points.length < 2) return;
    context.beginPath();
    points.forEach(({ x, y }, i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    if (fill) {
      context.globalAlpha = fillAlpha;
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      Object.assign(context, { globalAlpha: alpha, strokeStyle: stroke, lineWidth: width });
      context.setLineDash(dash);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  dot({ x, y }, radius, { fill, stroke, width = 1, alpha = 1 }) {
    const { context } = this;
    context.beginPath();
    context.arc(x, y, radius, 0, 7);
    context.globalAlpha = alpha;
    if (fill) { context.fillStyle = fill; context.fill(); }
    context.setLineDash([]);
    if (stroke) { context.strokeStyle = stroke; context.lineWidth = width; context.stroke(); }
    context.globalAlpha = 1;
  }

  text(text, { x, y }, { fill, size = 12, weight = 400, align = "left", halo = null }) {
    const { context } = this;
    context.save();
    Object.assign(context, { font: `${weight} ${size}px ${FONT}`, textAlign: align, textBaseline: "middle", fillStyle: fill });
    if (halo) { Object.assign(context, { strokeStyle: halo, lineWidth: 3.5 }); context.setLineDash([]); context.strokeText(text, x, y); }
    context.fillText(text, x, y);
    context.restore();
  }

  clip(x, y, width, height, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

export class SvgPen {
  /** `foot` is space below the picture for notes. */
  constructor(width, height, paper, foot) {
    Object.assign(this, { width, height, total: height + foot, parts: [`<rect width="${width}" height="${height + foot}" fill="${paper}"/>`], clips: 0 });
  }

  line(points, { stroke, width = 1, alpha = 1, dash = [], fill = null, fillAlpha = 1 }) {
    if (points.length < 2) return;
    const path = points.map(({ x, y }, i) => `${i ? "L" : "M"}${number(x)} ${number(y)}`).join("");
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    const filled = fill ? `fill="${fill}" fill-opacity="${fillAlpha}"` : 'fill="none"';
    const stroked = stroke ? ` stroke="${stroke}" stroke-width="${width}" stroke-opacity="${alpha}" stroke-linejoin="round"${dashes}` : "";
    this.parts.push(`<path d="${path}" ${filled}${stroked}/>`);
  }

  dot({ x, y }, radius, { fill, stroke, width = 1, alpha = 1 }) {
    const stroked = stroke ? ` stroke="${stroke}" stroke-width="${width}"` : "";
    this.parts.push(`<circle cx="${number(x)}" cy="${number(y)}" r="${number(radius)}" fill="${fill ?? "none"}"${stroked} opacity="${alpha}"/>`);
  }

  text(text, { x, y }, { fill, size = 12, weight = 400, align = "left", halo = null }) {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const haloed = halo ? ` stroke="${halo}" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke"` : "";
    this.parts.push(`<text x="${number(x)}" y="${number(y)}" dy="0.35em" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}" fill="${fill}"${haloed}>${escaped(text)}</text>`);
  }

  clip(x, y, width, height, draw) {
    const name = `clip${(this.clips += 1)}`;
    this.parts.push(`<clipPath id="${name}"><rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"/></clipPath><g clip-path="url(#${name})">`);
    draw();
    this.parts.push("</g>");
  }

  toString() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.total}" viewBox="0 0 ${this.width} ${this.total}" font-family='${FONT}'>${this.parts.join("\n")}</svg>\n`;
  }
}
