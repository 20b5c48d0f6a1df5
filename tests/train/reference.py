"""A slow, obvious training step in NumPy float64: dense tables, one function per formula.

Written from the paper's text, not from our source. Functions of points take coordinates on the last
axis and accept complex numbers, so that derivatives come from the complex step Im f(x + ih)/h, which
is exact to rounding.
"""

import dataclasses

import numpy as np

H = 1e-30

#: Images of a circle of time: the nearest and two on either side.
TURNS = np.arange(-2, 3)

#: Where log(1 − F) is continued by its tangent: 1 − F below this.
SATURATION = 1e-3

#: No step is longer than this.
MAX_STEP = 1.0


@dataclasses.dataclass
class Flat:
    """ℝⁿ with `times` ∈ {0, 1} negative directions, and circular time if C is set (eqs. 4, 20)."""

    dim: int
    times: int
    circumference: float | None = None

    def separation(self, p, q):
        """s² and Δt = x₀(q) − x₀(p), a trailing axis for the images of q."""
        time = (q - p)[..., :1]
        if self.circumference is not None:
            nearest = time - self.circumference * np.round(time.real / self.circumference)
            time = nearest + self.circumference * TURNS
        space = np.sum((q - p)[..., 1:] ** 2, axis=-1, keepdims=True)
        return (space - time**2 if self.times else space + time**2), time

    def descent(self, p, df):
        """The Wick rotation of g⁻¹df: vⁱ = δⁱʲ(df)ⱼ (after eq. 5)."""
        return df

    def tangent(self, p, v):
        return v

    def exp(self, p, v):
        """Eq. 5."""
        return p + v

    def transport(self, p, v, w):
        return w

    def random_point(self, rng):
        return rng.uniform(-0.8, 0.8, self.dim)


@dataclasses.dataclass
class Quadric:
    """⟨x, x⟩ = κ with `negatives` minus signs, scaled by the radius R (eq. 6 for anti-de Sitter)."""

    dim: int
    negatives: int
    kappa: int
    radius: float = 1.0

    @property
    def signs(self):
        return np.where(np.arange(self.dim + 1) < self.negatives, -1.0, 1.0)

    @property
    def definite(self):
        return self.negatives == (0 if self.kappa > 0 else 1)

    def form(self, x, y):
        return np.sum(self.signs * x * y, axis=-1)

    def separation(self, p, q):
        """Eq. 12: ∓ the square of the arc whose cosine (or cosh) is z = κ⟨p, q⟩; −π² without a geodesic."""
        z = self.kappa * self.form(p, q) + 0j
        with np.errstate(all="ignore"):
            arc = np.where(z.real > 1, np.arccosh(z) ** 2, -(np.arccos(z) ** 2))
        arc = np.where(z.real == 1, 0, np.where(z.real <= -1, -(np.pi**2), arc))
        return (-self.kappa * self.radius**2 * arc)[..., None], self.radius * self.time(p, q)

    def time(self, p, q):
        """Eqs. 22 to 25 on a circle of time; otherwise the difference of arcsinh of one coordinate."""
        if self.kappa > 0:
            return (np.arcsinh(q[..., 0]) - np.arcsinh(p[..., 0]))[..., None]
        if self.negatives == 1:
            return (np.arcsinh(q[..., 1]) - np.arcsinh(p[..., 1]))[..., None]
        theta = angle(q[..., 0], q[..., 1]) - angle(p[..., 0], p[..., 1])
        theta = theta - 2 * np.pi * np.round(theta.real / (2 * np.pi))
        # eq. 8, for any number of times: r² = x₋₁² + x₀² = 1 + |other spaces|² − |other times|²
        r_q = np.sqrt(1 + np.sum(self.signs[2:] * q[..., 2:] ** 2, axis=-1))
        return r_q[..., None] * (theta[..., None] + 2 * np.pi * TURNS)

    def tangent(self, p, v):
        """Eq. 10 for both signs of κ."""
        return v - self.kappa * self.form(v, p) * p

    def descent(self, p, df):
        """Eq. 1 where the metric is definite, eq. 11 where it is not; the metric is R²⟨·,·⟩."""
        raised = self.tangent(p, self.signs * df)
        if not self.definite:
            raised = self.tangent(p, self.signs * raised)
        return raised / self.radius**2

    def exp(self, p, v):
        """Eq. 13, then the block of coordinates with the sign of κ is rescaled onto the surface."""
        square = self.kappa * self.form(v, v)
        norm = np.sqrt(abs(square))
        if square > 0:
            q = np.cos(norm) * p + np.sin(norm) * v / norm
        elif square < 0:
            q = np.cosh(norm) * p + np.sinh(norm) * v / norm
        else:
            q = p + v
        block = self.signs == self.kappa
        scale = np.sqrt((1 + np.sum(q[~block] ** 2)) / np.sum(q[block] ** 2))
        return np.where(block, scale * q, q)

    def transport(self, p, v, w):
        """w parallel along t ↦ exp(p, tv) = γ: w + ⟨w, v⟩/⟨v, v⟩·(γ′(1) − v)."""
        square = self.kappa * self.form(v, v)
        if np.abs(square) < 1e-16:  # the limit
            return w - self.kappa * self.form(w, v) * (p + v / 2)
        norm = np.sqrt(abs(square))
        if square > 0:
            change = -norm * np.sin(norm) * p - 2 * np.sin(norm / 2) ** 2 * v
        else:
            change = norm * np.sinh(norm) * p + 2 * np.sinh(norm / 2) ** 2 * v
        return w + self.kappa * self.form(w, v) / square * change

    def random_point(self, rng):
        """exp of a random tangent vector at the origin, the axis with ⟨x, x⟩ = κ."""
        origin = np.zeros(self.dim + 1)
        origin[-1 if self.kappa > 0 else 0] = 1
        return self.exp(origin, self.tangent(origin, rng.uniform(-0.8, 0.8, self.dim + 1)))


def angle(y, x):
    """θ with y = r sin θ, x = r cos θ (eq. 7) up to whole turns; complex numbers with a tiny Im are fine."""
    steep = np.abs(y.real) > np.abs(x.real)
    slope = np.arctan(np.where(steep, x, y) / np.where(steep, y, x))
    flat = slope + np.where(x.real < 0, np.pi, 0)
    return np.where(steep, np.where(y.real < 0, -np.pi / 2, np.pi / 2) - slope, flat)


def log_sigmoid(x):
    left = x.real < 0
    small = np.exp(np.where(left, x, -x))
    return np.where(left, x, 0) - np.log1p(small)


def of_total(total):
    """(log F̃, log(1 − F̃)) of a sum over images, with the tangent beyond the knee."""
    knee = total.real > 1 - SATURATION
    before = np.log1p(-np.where(knee, 0, total))
    slope = 1 - 1 / SATURATION
    beyond = np.log(SATURATION) + slope * (np.log(total) - np.log1p(-SATURATION))
    return np.where(total.real < 1, np.log(total), 0), np.where(knee, beyond, before)


def log_likelihoods(name, numbers, interval, time):
    """(log F̃, log(1 − F̃)) by eqs. 14 to 18 and 21, or another likelihood; last axis: images."""
    if name == "triple-fermi-dirac":
        f1 = log_sigmoid((numbers["r"] - interval) / numbers["tau1"])
        f2 = log_sigmoid(time / numbers["tau2"])
        f3 = log_sigmoid(-numbers["alpha"] * time / numbers["tau2"])
        return of_total(np.sum(numbers["k"] * np.exp((f1 + f2 + f3) / 3), axis=-1))
    if name == "cone":
        square = interval + time * time
        space = np.sqrt(np.where(square.real > 0, square, 0) + numbers["tau1"] ** 2) - numbers["tau1"]
        size = np.where(time.real < 0, -time, time) + space
        cone = log_sigmoid((time - space - numbers["r"]) / (numbers["tau1"] + numbers["beta"] * size))
        fading = log_sigmoid(-numbers["alpha"] * np.where(time.real > 0, time, 0) / numbers["tau2"])
        return of_total(np.sum(2 * numbers["k"] * np.exp(cone + fading), axis=-1))
    interval, time = (x[..., x.shape[-1] // 2] for x in (interval, time))  # the nearest image
    if name == "fermi-dirac":
        x = (numbers["r"] - numbers["alpha"] * interval) / numbers["tau"]
        return log_sigmoid(x), log_sigmoid(-x)
    a, b = -interval / numbers["tau1"], time / numbers["tau2"]
    neither = np.exp(log_sigmoid(-a)) + np.exp(log_sigmoid(a) + log_sigmoid(-b))
    return log_sigmoid(a) + log_sigmoid(b), np.log(neither)


@dataclasses.dataclass
class Reference:
    """The whole state of a run: a table of points, the tables of an optimiser, and counts."""

    space: Flat | Quadric
    likelihood: str
    numbers: dict
    optimizer: str
    points: np.ndarray

    def __post_init__(self):
        self.steps = self.loss = self.saturated = self.norms = self.rows = self.clipped = self.shortened = 0
        self.first = np.zeros_like(self.points)
        self.second = np.full_like(self.points, 0.1 if self.optimizer == "adagrad" else 0.0)

    def step(self, sources, targets, use, weights, rate, clip):
        """One minibatch: a row per example, its pairs along the row, the first of them the edge."""
        self.steps += 1
        gradient = self.gradient(sources, targets, use, weights)
        old = self.points.copy()
        touched = {*sources.flat, *targets.flat} - {len(old)}  # the node number of padding
        if self.optimizer == "dense-adam":
            touched = set(range(len(old)))
        for i in sorted(touched):
            p = old[i]
            v = self.space.descent(p, gradient[i])
            norm = np.linalg.norm(v)
            self.norms, self.rows = self.norms + norm, self.rows + 1
            if norm > clip:
                v, self.clipped = v * clip / norm, self.clipped + 1
            v = -rate * self.space.tangent(p, self.direction(i, v))
            norm = np.linalg.norm(v)
            if norm > MAX_STEP:
                v, self.shortened = v * MAX_STEP / norm, self.shortened + 1
            self.points[i] = self.space.exp(p, v)
            if self.optimizer.endswith("adam"):
                self.first[i] = self.space.transport(p, v, self.first[i])

    def gradient(self, sources, targets, use, weights):
        """The dense [N, D] derivative of −Σ w log-likelihood; loss and saturated pairs are counted."""
        dense, width = np.zeros_like(self.points), self.points.shape[1]
        a, b = sources[use], targets[use]
        positive = (np.arange(use.shape[1]) == 0) & use
        nudge = 1j * H * np.eye(2 * width)[:, None, :]  # one coordinate of p or of q at a time
        p, q = self.points[a] + nudge[..., :width], self.points[b] + nudge[..., width:]
        edge, no_edge = log_likelihoods(self.likelihood, self.numbers, *self.space.separation(p, q))
        w = np.broadcast_to(weights[:, None], use.shape)[use]
        losses = -w * np.where(positive[use], edge, no_edge)
        self.loss += np.sum(losses[0].real)
        self.saturated += np.sum(edge[0].real >= np.log1p(-SATURATION))
        slopes = losses.imag.T / H
        np.add.at(dense, a, slopes[:, :width])
        np.add.at(dense, b, slopes[:, width:])
        return dense

    def direction(self, i, v):
        """Adam (β = 0.9, 0.999, dense 0.99, ε = 1e-8), Adagrad (from 0.1, ε = 1e-7 under the root)."""
        if self.optimizer.endswith("adam"):
            beta = 0.99 if self.optimizer == "dense-adam" else 0.999
            self.first[i] = 0.9 * self.first[i] + 0.1 * v
            self.second[i] = beta * self.second[i] + (1 - beta) * v**2
            mean = self.first[i] / (1 - 0.9**self.steps)
            square = self.second[i] / (1 - beta**self.steps)
            return mean / (np.sqrt(square) + 1e-8)
        if self.optimizer == "adagrad":
            self.second[i] += v**2
            return v / np.sqrt(self.second[i] + 1e-7)
        return v
