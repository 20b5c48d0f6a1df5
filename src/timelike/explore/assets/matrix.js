// 4 × 4 matrices in column-major order, as in WebGL, and the cameras that produce them.

const multiply = (a, b) => {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
};

/** The position of a point in pixels from the top left; `depth` grows with distance. */
export function toScreen(matrix, width, height, x, y, z = 0) {
  const w = matrix[3] * x + matrix[7] * y + matrix[11] * z + matrix[15];
  return {
    x: ((matrix[0] * x + matrix[4] * y + matrix[8] * z + matrix[12]) / w / 2 + 0.5) * width,
    y: (0.5 - (matrix[1] * x + matrix[5] * y + matrix[9] * z + matrix[13]) / w / 2) * height,
    depth: w,
  };
}

const FAR = 3.2; // distance of the eye from the centre, in radii of the scene
const corners = ([xs, ys, zs]) => xs.flatMap((x) => ys.flatMap((y) => zs.map((z) => [x, y, z])));

/** A map of the plane; both axes have one scale, so that light keeps its slope, unless x is stretched. */
export class Flat {
  constructor() { Object.assign(this, { x: 0, y: 0, scale: 1, stretch: 1 }); }

  fit(limits, width, height, margins, stretched) {
    const [wide, high] = limits.map(([a, b]) => b - a || 1);
    const free = [width - margins.left - margins.right, height - margins.top - margins.bottom];
    const scales = [free[0] / wide, free[1] / high];
    this.scale = stretched ? scales[1] : Math.min(...scales);
    this.stretch = stretched ? scales[0] / scales[1] : 1;
    this.x = (limits[0][0] + limits[0][1]) / 2 - (margins.left - margins.right) / 2 / this.across;
    this.y = (limits[1][0] + limits[1][1]) / 2 + (margins.top - margins.bottom) / 2 / this.scale;
    this.home = this.scale;
  }

  /** Pixels per unit of x. */
  get across() { return this.scale * this.stretch; }

  drag(dx, dy) { this.x -= dx / this.across; this.y += dy / this.scale; }

  zoom(factor, px, py, width, height) {
    const change = Math.min(Math.max(this.scale * factor, this.home / 50), this.home * 2000) / this.scale;
    this.x += ((px - width / 2) / this.across) * (1 - 1 / change);
    this.y += ((height / 2 - py) / this.scale) * (1 - 1 / change);
    this.scale *= change;
  }

  lookAt(point) { [this.x, this.y] = point; }

  matrix(width, height) {
    const sx = (2 * this.across) / width, sy = (2 * this.scale) / height;
    return new Float32Array([sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, 1, 0, -this.x * sx, -this.y * sy, 0, 1]);
  }
}

/** A camera that orbits a centre, with a zoom lens; z is up. */
export class Orbit {
  constructor() { Object.assign(this, { yaw: -0.9, pitch: 0.32, centre: [0, 0, 0], size: 1, lens: 1, home: 1, shift: [0, 0] }); }

  /** Choose the lens so that the corners of a box just fit within the margins. */
  fit(limits, width, height, margins) {
    this.centre = limits.map(([a, b]) => (a + b) / 2);
    this.size = Math.hypot(...limits.map(([a, b]) => b - a)) / 2 || 1;
    Object.assign(this, { lens: 1, shift: [0, 0] });
    const matrix = this.matrix(width, height);
    const seen = corners(limits).map((p) => toScreen(matrix, width, height, ...p));
    const [xs, ys] = ["x", "y"].map((k) => [Math.min(...seen.map((p) => p[k])), Math.max(...seen.map((p) => p[k]))]);
    const free = [width - margins.left - margins.right, height - margins.top - margins.bottom];
    this.lens = this.home = Math.min(free[0] / (xs[1] - xs[0] || 1), free[1] / (ys[1] - ys[0] || 1));
    const middle = [(margins.left - margins.right) / 2 - this.lens * ((xs[0] + xs[1]) / 2 - width / 2), (margins.top - margins.bottom) / 2 - this.lens * ((ys[0] + ys[1]) / 2 - height / 2)];
    this.shift = [(2 * middle[0]) / width, (-2 * middle[1]) / height];
  }

  drag(dx, dy, width, height, pan) {
    if (pan) {
      this.shift[0] += (2 * dx) / width;
      this.shift[1] -= (2 * dy) / height;
      return;
    }
    this.yaw -= dx / 160;
    this.pitch = Math.min(1.55, Math.max(-1.55, this.pitch + dy / 160));
  }

  /** Zoom around the pointer. */
  zoom(factor, px, py, width, height) {
    const change = Math.min(Math.max(this.lens * factor, this.home / 4), this.home * 500) / this.lens;
    const at = [(2 * px) / width - 1, 1 - (2 * py) / height];
    this.shift = this.shift.map((s, k) => at[k] - change * (at[k] - s));
    this.lens *= change;
  }

  lookAt(point, width, height) {
    const { x, y } = toScreen(this.matrix(width, height), width, height, ...point);
    this.shift = [this.shift[0] + 1 - (2 * x) / width, this.shift[1] + (2 * y) / height - 1];
  }

  matrix(width, height) {
    const cy = Math.cos(this.yaw), sy = Math.sin(this.yaw), cp = Math.cos(this.pitch), sp = Math.sin(this.pitch);
    const right = [-sy, cy, 0], up = [-cy * sp, -sy * sp, cp], back = [cy * cp, sy * cp, sp];
    const [x, y, z] = this.centre, s = 1 / this.size;
    const view = new Float32Array(16);
    [right, up, back].forEach((axis, row) => {
      for (let c = 0; c < 3; c++) view[4 * c + row] = axis[c] * s;
      view[12 + row] = -(axis[0] * x + axis[1] * y + axis[2] * z) * s;
    });
    view[14] -= FAR;
    view[15] = 1;
    const near = 0.05, far = 30, f = FAR * this.lens * Math.min(width, height), lens = new Float32Array(16);
    lens[0] = f / width;
    lens[5] = f / height;
    lens[8] = -this.shift[0];
    lens[9] = -this.shift[1];
    lens[10] = (far + near) / (near - far);
    lens[11] = -1;
    lens[14] = (2 * far * near) / (near - far);
    return multiply(lens, view);
  }
}
