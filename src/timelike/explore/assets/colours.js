// Colour-blind-safe colours: viridis for numbers, the palette of Okabe and Ito for categories.

const VIRIDIS = [
  [68, 1, 84], [72, 24, 106], [71, 45, 123], [66, 64, 134], [59, 82, 139], [51, 99, 141], [44, 114, 142],
  [38, 130, 142], [33, 145, 140], [31, 160, 136], [40, 174, 128], [63, 188, 115], [94, 201, 98],
  [132, 212, 75], [173, 220, 48], [216, 226, 25], [253, 231, 37],
];
const KINDS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#9A8C00"];
export const FUTURE = "#E69F00", PAST = "#56B4E9";
const NONE = { light: "#9aa0a6", dark: "#6f757d" };

export const theme = () => document.documentElement.dataset.theme;
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
export const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
export const paper = () => rgb(css("canvas")).map((x) => x / 255);

/** viridis without the end that is too close to the background. */
export function viridis(share) {
  const [low, high] = theme() === "dark" ? [0.2, 1] : [0, 0.9];
  const at = (low + share * (high - low)) * (VIRIDIS.length - 1);
  const i = Math.min(Math.floor(at), VIRIDIS.length - 2);
  return VIRIDIS[i].map((a, k) => Math.round(a + (at - i) * (VIRIDIS[i + 1][k] - a)));
}

export const hex = (channels) => `#${channels.map((x) => x.toString(16).padStart(2, "0")).join("")}`;
export const kindColour = (i) => KINDS[i] ?? NONE[theme()];

/** Maps values to colours; nodes without a value are grey. */
export class Scale {
  constructor(label, values, categories) {
    Object.assign(this, { label, values, categories });
    let low = Infinity, high = -Infinity, whole = true;
    for (const x of values) {
      if (Number.isNaN(x)) continue;
      if (x < low) low = x;
      if (x > high) high = x;
      if (x !== Math.floor(x)) whole = false;
    }
    Object.assign(this, { low: low <= high ? low : 0, high: low <= high ? high : 0 });
    this.log = !categories && whole && this.low >= 0 && this.high > 20; // degrees: heavy-tailed
  }

  share(x) {
    if (this.high === this.low) return 0.5;
    return this.log ? Math.log1p(x - this.low) / Math.log1p(this.high - this.low) : (x - this.low) / (this.high - this.low);
  }

  /** Red, green, blue and 255 for every node, as bytes. */
  shades() {
    const { values, categories } = this, none = rgb(NONE[theme()]), out = new Uint8Array(4 * values.length).fill(255);
    const table = Array.from({ length: 256 }, (_, k) => (categories ? rgb(kindColour(k)) : viridis(k / 255)));
    for (let i = 0; i < values.length; i++) {
      const x = values[i], colour = Number.isNaN(x) ? none : table[categories ? x : Math.round(255 * this.share(x))];
      out[4 * i] = colour[0];
      out[4 * i + 1] = colour[1];
      out[4 * i + 2] = colour[2];
    }
    return out;
  }

  of(i) {
    const x = this.values[i];
    if (this.categories) return kindColour(x);
    return Number.isNaN(x) ? NONE[theme()] : hex(viridis(this.share(x)));
  }
}
