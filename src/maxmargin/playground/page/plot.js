// A small chart: two axes, linear or logarithmic, with lines, marks and words in the units of the data.

import { short } from "./format.js";
import { coordinates, set, svg } from "./svg.js";

const ROOM = { left: 34, right: 8, top: 8, bottom: 20 };

export class Plot {
  /** `x` and `y` are {low, high, log}; the picture grows with its place. */
  constructor({ label, x, y, height = 170, width = 320 }) {
    Object.assign(this, { width, height, axes: [x, y] });
    this.root = svg("svg", { class: "chart plot", role: "img", viewBox: `0 0 ${width} ${height}` });
    set(this.root, { "aria-label": label });
    this.clip = `plot-${++Plot.count}`;
    const inside = { x: ROOM.left, y: ROOM.top, width: this.innerWidth, height: this.innerHeight };
    this.root.append(svg("clipPath", { id: this.clip }, svg("rect", inside)));
    this.inner = svg("g", { "clip-path": `url(#${this.clip})` });
    this.drawAxes();
    this.root.append(this.inner);
  }

  get innerWidth() {
    return this.width - ROOM.left - ROOM.right;
  }

  get innerHeight() {
    return this.height - ROOM.top - ROOM.bottom;
  }

  share(axis, value) {
    const { low, high, log } = this.axes[axis];
    const [a, b, c] = log ? [low, high, Math.max(value, Number.MIN_VALUE)].map(Math.log) : [low, high, value];
    return (c - a) / (b - a || 1);
  }

  x(value) {
    return ROOM.left + this.innerWidth * this.share(0, value);
  }

  y(value) {
    return ROOM.top + this.innerHeight * (1 - this.share(1, value));
  }

  /** The data under a pixel of the picture, in the units of its view box. */
  dataAt([column, row]) {
    const shares = [(column - ROOM.left) / this.innerWidth, 1 - (row - ROOM.top) / this.innerHeight];
    return this.axes.map(({ low, high }, axis) => low + (high - low) * Math.max(0, Math.min(1, shares[axis])));
  }

  drawAxes() {
    const bottom = this.height - ROOM.bottom;
    for (const value of ticksOf(this.axes[0])) {
      const x = this.x(value);
      this.root.append(svg("line", { class: "tick", x1: x, x2: x, y1: ROOM.top, y2: bottom }));
      this.root.append(svg("text", { class: "tick", x, y: bottom + 13, "text-anchor": "middle" }, brief(value)));
    }
    for (const value of ticksOf(this.axes[1])) {
      const y = this.y(value);
      this.root.append(svg("line", { class: "tick", x1: ROOM.left, x2: this.width - ROOM.right, y1: y, y2: y }));
      this.root.append(svg("text", { class: "tick", x: ROOM.left - 4, y: y + 4, "text-anchor": "end" }, brief(value)));
    }
  }

  line(points, style) {
    const places = points.filter(([, y]) => Number.isFinite(y)).map(([x, y]) => [this.x(x), this.y(y)]);
    this.inner.append(svg("polyline", { class: style, points: coordinates(places) }));
  }

  /** From one value to another along an axis: what is forbidden, or the inside of the street. */
  band(low, high, style) {
    const [start, end] = [low, high].map((value) => this.x(value));
    const box = { x: start, width: Math.max(0, end - start), y: ROOM.top, height: this.innerHeight };
    this.inner.append(svg("rect", { class: style, ...box }));
  }

  upright(value, style) {
    const x = this.x(value);
    this.inner.append(svg("line", { class: style, x1: x, x2: x, y1: ROOM.top, y2: this.height - ROOM.bottom }));
  }

  level(value, style) {
    const y = this.y(value);
    this.inner.append(svg("line", { class: style, x1: ROOM.left, x2: this.width - ROOM.right, y1: y, y2: y }));
  }

  dot([x, y], style, r = 4) {
    this.inner.append(svg("circle", { class: style, cx: this.x(x), cy: this.y(y), r }));
  }

  word([x, y], text, style, offset = [6, -5], anchor = "start") {
    const at = { x: this.x(x) + offset[0], y: this.y(y) + offset[1], "text-anchor": anchor };
    this.root.append(svg("text", { class: style, ...at }, text));
  }

  /** A picture of a grid of values, drawn by `paint(layer, box)` within the axes. */
  picture(paint) {
    const layer = svg("g", { transform: `translate(${ROOM.left},${ROOM.top})` });
    this.inner.prepend(layer);
    paint(layer, { width: this.innerWidth, height: this.innerHeight });
  }
}

Plot.count = 0;

function brief(value) {
  return short(value, 2).replace(" × ", "·");
}

/** Round values; powers of ten on a logarithmic axis. */
function ticksOf({ low, high, log }) {
  if (log) {
    const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
    const step = Math.max(1, Math.ceil((last - first) / 4));
    const ticks = [];
    for (let power = first; power <= last; power += step) ticks.push(10 ** power);
    if (ticks.length > 2) return ticks;
    const between = [first - 1, first, first + 1].flatMap((power) => [1, 2, 5].map((times) => times * 10 ** power));
    return between.filter((value) => value >= low && value <= high).map((value) => Number(value.toPrecision(2)));
  }
  const wanted = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].find((times) => times * power >= wanted) * power;
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}
