// One picture: the plane of the data as SVG, in layers from the grid at the back to the points in front.
//
// What is drawn comes from the server as data coordinates; here it becomes pixels, in full precision. The layer of
// the points keeps its elements from frame to frame, because they hold the focus and the pointer; the others are drawn
// anew.

import { drawGrid } from "./grid.js";
import { PointMarks } from "./marks.js";
import { Scale } from "./scale.js";
import { coordinates, set, svg } from "./svg.js";
import { drawField } from "./field.js";

const LAYERS = ["field", "grid", "hulls", "street", "lines", "own", "slack", "nearest", "step", "rings"];
const ALWAYS_TRUE = ["grid", "own"]; // the other layers belong to an answer

/** Whether the hulls prove something: that no street is wider, or that there is none. A soft margin cuts into them. */
export function holdsProof(hulls) {
  return Boolean(hulls && (hulls.nearest || hulls.witness));
}

export class Figure {
  constructor(root, onResize) {
    this.root = root;
    this.layers = Object.fromEntries(LAYERS.map((name) => [name, svg("g", { class: name, "aria-hidden": true })]));
    this.marks = new PointMarks();
    this.ends = svg("g", { class: "ends" });
    root.replaceChildren(...Object.values(this.layers), this.marks.layer, this.ends);
    this.view = [0, 0, 5];
    this.measure();
    new ResizeObserver(() => {
      if (this.measure()) onResize();
    }).observe(root);
  }

  /** Take the size from the page; true if it has changed. */
  measure() {
    const { width, height } = this.root.getBoundingClientRect();
    if (!(width > 0 && height > 0) || (this.width === width && this.height === height)) return false;
    Object.assign(this, { width, height });
    set(this.root, { viewBox: `0 0 ${width} ${height}` });
    this.rescale();
    return true;
  }

  rescale() {
    this.scale = new Scale(this.view, this.width || 600, this.height || 600);
    this.unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // marks grow with the type
    const { left, right, bottom, top } = this.scale;
    Object.assign(this.root.dataset, { left, right, bottom, top });
  }

  /** Where an event happened, in the pixels of this picture. */
  pixel(event) {
    const { left, top } = this.root.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  focusPoint(row) {
    this.marks.focus(row);
  }

  /**
   * Draw a scene: {points, view, answer, step, line, challenge, hidden, sameRows, isFresh}; see panel.js. What belongs
   * to another state is dimmed, and where its rows are not those of the points, no row is marked.
   */
  draw(scene) {
    this.view = scene.view;
    this.rescale();
    for (const [name, layer] of Object.entries(this.layers)) {
      layer.replaceChildren();
      layer.classList.toggle("stale", !scene.isFresh && !ALWAYS_TRUE.includes(name));
    }
    drawGrid(this.layers.grid, this.scale);
    if (scene.line) this.drawOwn(scene.line);
    if (scene.challenge) this.drawChallenge(scene);
    else if (scene.step) this.drawStep(scene);
    else if (scene.answer) this.drawAnswer(scene);
    this.marks.draw(scene, this.scale, this.unit);
    this.drawEnds(scene.line);
  }

  drawAnswer({ answer, points, hidden, sameRows, isFresh }) {
    if (answer.field && isFresh) drawField(this.layers.field, answer.field, this.scale);
    if (!hidden.has("street")) this.drawStreet(answer);
    this.drawLines(answer.lines.zero, "plane", "zero");
    if (!hidden.has("hulls")) this.drawHulls(answer.hulls);
    if (!sameRows) return;
    if (!hidden.has("slack")) this.drawSlack(answer.slack, points);
    if (!hidden.has("support")) this.drawRings(answer.support, points);
  }

  drawStep({ step, points, sameRows }) {
    this.drawLines(step.lines_before, "plane before", "before");
    this.drawLines(step.lines, "plane", "zero");
    if (!sameRows) return;
    if (step.row !== null && points[step.row]) {
      const [cx, cy] = this.scale.toPixels(points[step.row]);
      this.layers.step.append(svg("circle", { class: "halo", cx, cy, r: 20 * this.unit }));
    }
    this.drawRings(step.support, points);
  }

  drawChallenge({ challenge: { yours, best }, revealed, hidden }) {
    if (revealed && best.plane) {
      this.drawStreet(best);
      this.drawLines(best.lines.zero, "plane best", "zero");
    }
    if (revealed && !hidden.has("hulls")) this.drawHulls(best.hulls);
    if (!revealed && yours.separates) this.drawStreet(yours);
  }

  /** The reader's own line follows the hand at once, whatever the server has said so far. */
  drawOwn(line) {
    const [[x0, y0], [x1, y1]] = line.map((end) => this.scale.toPixels(end));
    const far = (2 * (this.width + this.height)) / (Math.hypot(x1 - x0, y1 - y0) || 1);
    const [x, y] = [(x1 - x0) * far, (y1 - y0) * far];
    const own = { class: "plane yours", "data-line": "yours", x1: x0 - x, y1: y0 - y, x2: x0 + x, y2: y0 + y };
    this.layers.own.append(svg("line", own));
  }

  drawStreet({ street_area, lines }) {
    if (street_area.length > 0) {
      this.layers.street.append(svg("polygon", { points: this.path(street_area), class: "area" }));
    }
    this.drawLines(lines.plus, "edge positive", "plus");
    this.drawLines(lines.minus, "edge negative", "minus");
  }

  drawLines(polylines, style, name) {
    for (const line of polylines) {
      this.layers.lines.append(svg("polyline", { points: this.path(line), class: style, "data-line": name }));
    }
  }

  drawHulls(hulls) {
    if (!holdsProof(hulls)) return;
    const { witness } = hulls;
    for (const side of ["positive", "negative", "mirrored"]) {
      if (hulls[side]) this.polygon(hulls[side], `hull ${side}`);
      if (witness?.[side]) this.polygon(witness[side], `hull ${side} witness`);
    }
    if (witness) this.drawCross(this.scale.toPixels(witness.at));
    else if (hulls.nearest) {
      const [p, q] = hulls.nearest.map((point) => this.scale.toPixels(point));
      const ends = { x1: p[0], y1: p[1], x2: q[0], y2: q[1] };
      this.layers.nearest.append(svg("line", { class: "nearest-line", ...ends }));
      for (const [cx, cy] of [p, q]) {
        this.layers.nearest.append(svg("circle", { class: "nearest-end", cx, cy, r: 3.5 * this.unit }));
      }
    }
  }

  polygon(points, style) {
    this.layers.hulls.append(svg("polygon", { points: this.path(points), class: style }));
  }

  drawCross([x, y]) {
    for (const style of ["cross-back", "cross"]) {
      const transform = `translate(${x},${y}) scale(${this.unit})`;
      this.layers.nearest.append(svg("path", { class: style, d: "M-7,-7l14,14m0,-14l-14,14", transform }));
    }
  }

  drawSlack(slack, points) {
    for (const { row, from, to } of slack) {
      if (!from || !to || !points[row]) continue;
      const [[x1, y1], [x2, y2]] = [from, to].map((point) => this.scale.toPixels(point));
      const style = points[row][2] > 0 ? "positive" : "negative";
      this.layers.slack.append(svg("line", { class: style, x1, y1, x2, y2, "data-row": row }));
    }
  }

  /** A ring around each support vector: its area grows with the dual variable. */
  drawRings(support, points) {
    const largest = Math.max(...support.map(({ a }) => a), Number.MIN_VALUE);
    for (const { row, a, bounded } of support) {
      if (!points[row]) continue;
      const [cx, cy] = this.scale.toPixels(points[row]);
      const r = this.unit * Math.sqrt(81 + 144 * (a / largest));
      this.layers.rings.append(svg("circle", { class: bounded ? "ring bounded" : "ring", cx, cy, r, "data-row": row }));
    }
  }

  /** The two ends by which the reader's own line is held. */
  drawEnds(line) {
    const wanted = line ? 2 : 0;
    while (this.ends.children.length > wanted) this.ends.lastChild.remove();
    while (this.ends.children.length < wanted) {
      const end = this.ends.children.length;
      const label = `${end === 0 ? "First" : "Second"} end of your line`;
      const handle = { class: "end", "data-end": end, tabindex: 0, role: "button", "aria-label": label };
      const knob = svg("circle", { class: "knob", r: 8 });
      this.ends.append(svg("g", handle, svg("circle", { class: "hit", r: 18 }), knob));
    }
    line?.forEach((end, i) => {
      const [x, y] = this.scale.toPixels(end);
      const transform = `translate(${x},${y}) scale(${this.unit})`;
      set(this.ends.children[i], { transform, "aria-description": `at ${end[0]}, ${end[1]}` });
    });
  }

  path(points) {
    return coordinates(points.map((point) => this.scale.toPixels(point)));
  }
}
