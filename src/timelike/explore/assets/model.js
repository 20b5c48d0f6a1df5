// Edge probabilities as defined by timelike.manifolds and timelike.likelihoods, in double precision.

const wrap = (x, period) => x - period * Math.round(x / period);
const logSigmoid = (x) => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x)));
const logSumExp = (xs) => { const top = Math.max(...xs); return top + Math.log(xs.reduce((sum, x) => sum + Math.exp(x - top), 0)); };
const squares = (d, from, to) => { let sum = 0; for (let i = from; i < to; i++) sum += d[i] * d[i]; return sum; };
const turns = (images) => Array.from({ length: 2 * images + 1 }, (_, i) => i - images);

/** A(z), z = 1 + u = w − 1: arcosh² z, −arccos² z, and −π² if there is no geodesic. */
function squaredArc(u, w) {
  if (u > 0) return Math.log1p(u + Math.sqrt(u) * Math.sqrt(u + 2)) ** 2;
  return -((2 * Math.atan2(Math.sqrt(-u), Math.sqrt(Math.max(w, 0)))) ** 2);
}

/** s² − μ_p − μ_q and the twisted time difference, as in timelike.baselines.twisted_time. */
function twisted(p, q) {
  const half = p.length / 2, d = q.map((x, i) => x - p[i]);
  const interval = squares(d, half + 1, 2 * half) - squares(d, 1, half) - p[half] - q[half];
  let time = d[0];
  for (let i = 1; i < half; i++) time += 2 * (p[i] * q[half + i] - p[half + i] * q[i]);
  return { interval: [interval], time: [time] };
}

const SPACES = {
  Flat: ({ times, spaces }) => (p, q, shifts = [0]) => {
    const d = q.map((x, i) => x - p[i]), space = squares(d, Math.max(times, 1), times + spaces);
    const time = shifts.map((shift) => d[0] + shift);
    const others = squares(d, 1, times);
    return { interval: time.map((t) => (times ? space - others - t * t : space + t * t)), time };
  },
  Cylinder: ({ base, circumference, images }) => {
    const within = SPACES.Flat(base);
    return (p, q) => {
      const time = q[0] - p[0], nearest = wrap(time, circumference) - time;
      return within(p, q, turns(images).map((n) => nearest + n * circumference));
    };
  },
  Quadric: ({ negatives, positives, kappa, radius, images }) => {
    const chord = (d) => squares(d, negatives, negatives + positives) - squares(d, 0, negatives);
    const circle = kappa < 0 && negatives >= 2, axis = kappa > 0 ? 0 : 1;
    return (p, q) => {
      const u = (-kappa * chord(q.map((x, i) => x - p[i]))) / 2, w = (kappa * chord(q.map((x, i) => x + p[i]))) / 2;
      const arc = u < -1 ? squaredArc(w - 2, w) : squaredArc(u, u + 2);
      let time = [radius * (Math.asinh(q[axis]) - Math.asinh(p[axis]))];
      if (circle) {
        const angle = wrap(Math.atan2(-q[1], q[0]) - Math.atan2(-p[1], p[0]), 2 * Math.PI);
        time = turns(images).map((n) => radius * Math.hypot(q[0], q[1]) * (angle + 2 * Math.PI * n));
      }
      return { interval: time.map(() => -kappa * radius * radius * arc), time };
    };
  },
};

/** For each likelihood: whether it sums over images, its formula, how factors combine, and the log factors. */
const LIKELIHOODS = {
  FermiDirac: ({ tau, r, alpha }) => ({
    sums: false, formula: "F", join: (f) => f.F,
    factors: (s2) => ({ F: logSigmoid((r - alpha * s2) / tau) }),
  }),
  TripleFermiDirac: ({ tau1, tau2, alpha, r, k }) => ({
    sums: true, formula: "k (F₁ F₂ F₃)^⅓", join: (f) => Math.log(k) + (f["F₁"] + f["F₂"] + f["F₃"]) / 3,
    factors: (s2, t) => ({ "F₁": logSigmoid((r - s2) / tau1), "F₂": logSigmoid(t / tau2), "F₃": logSigmoid((-alpha * t) / tau2) }),
  }),
  LawLucas: ({ tau1, tau2 }) => ({
    sums: false, formula: "F₁ F₂", join: (f) => f["F₁"] + f["F₂"],
    factors: (s2, t) => ({ "F₁": logSigmoid(-s2 / tau1), "F₂": logSigmoid(t / tau2) }),
  }),
  Cone: ({ tau1, tau2, alpha, beta, r, k }) => ({
    sums: true, formula: "2 k F₁ F₂", join: (f) => Math.log(2 * k) + f["F₁"] + f["F₂"],
    factors: (s2, t) => {
      const space = Math.sqrt(Math.max(s2 + t * t, 0) + tau1 * tau1) - tau1;
      const cone = (t - space - r) / (tau1 + beta * (Math.abs(t) + space));
      return { "F₁": logSigmoid(cone), "F₂": logSigmoid((-alpha * Math.max(t, 0)) / tau2) };
    },
  }),
  TwistedTime: ({ tau1, tau2, r }) => ({
    sums: false, formula: "F", join: (f) => f.F, separation: twisted,
    factors: (s2, t) => ({ F: logSigmoid((r - s2) / tau1 + t / tau2) }),
  }),
};

const SATURATION = 1e-3; // as in timelike.core.numerics

/** log P from log F, as in timelike.embedding.calibration. */
function calibrated({ slope, intercept, knee }, logProb) {
  const safe = Math.min(logProb, Math.log1p(-SATURATION));
  let x = logProb - Math.log(-Math.expm1(safe)) + (1 / SATURATION - 1) * (logProb - safe);
  if (x < knee) x = knee - Math.log1p(knee - x);
  return logSigmoid(slope * x + intercept);
}

export class Model {
  constructor({ manifold, likelihood, calibration }, points, dim) {
    this.likelihood = LIKELIHOODS[likelihood.class](likelihood);
    this.separation = this.likelihood.separation ?? SPACES[manifold.class](manifold);
    Object.assign(this, { calibration, points, dim });
  }

  point(i) { return Array.from(this.points.subarray(this.dim * i, this.dim * (i + 1))); }

  /** s², Δt, factors and log F for every image of j that counts. */
  images(i, j, p = this.point(i)) {
    const { interval, time } = this.separation(p, this.point(j)), middle = (time.length - 1) / 2;
    const all = time.map((t, n) => {
      const factors = this.likelihood.factors(interval[n], t);
      return { turn: n - middle, interval: interval[n], time: t, factors, logF: this.likelihood.join(factors) };
    });
    return this.likelihood.sums ? all : [all[middle]];
  }

  logProb(i, j, p) { return Math.min(0, logSumExp(this.images(i, j, p).map((x) => x.logF))); }

  /** The displayed probability, calibrated if the model is. */
  prob(logProb) { return Math.exp(this.calibration ? calibrated(this.calibration, logProb) : logProb); }

  /** log F of the edges from i to all nodes, or from all nodes to i. */
  scores(i, incoming) {
    const count = this.points.length / this.dim, out = new Float64Array(count), p = this.point(i);
    for (let j = 0; j < count; j++) out[j] = incoming ? this.logProb(j, i) : this.logProb(i, j, p);
    return out;
  }

  /** The image of the target to which an edge is drawn. */
  turns(i, j) {
    const images = this.images(i, j);
    if (this.logProb(i, j) < Math.log(0.1)) return 0;
    return images.reduce((best, x) => (x.logF > best.logF ? x : best)).turn;
  }
}
