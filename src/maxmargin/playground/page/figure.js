// One picture: the plane of the data as SVG, in layers from the grid at the back to the points in front.
//
// What is drawn comes from the server as data coordinates; here it becomes pixels, in full precision. The layer of
// the points keeps its elements from frame to frame, because they hold the focus and the pointer, the grid and the
// shades of a kernel stay as long as they are the same; the other layers are drawn anew.

import { className } from "./format.js";
import { drawGrid } from "./grid.js";
import { PointMarks } from "./marks.js";
import { ends, Motion, placeOf } from "./motion.js";
import { Note } from "./note.js";
import { Scale } from "./scale.js";
import { coordinates, set, svg } from "./svg.js";
import { drawField } from "./field.js";

const LAYERS = ["field", "grid", "hulls", "street", "lines", "own", "slack", "nearest", "step", "rings"];
const ALWAYS_TRUE = ["grid", "own"]; // the other layers belong to an answer
const KEPT = ["field", "grid"];

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
    this.note = new Note();
    this.motion = new Motion(() => this.moveLine(), () => this.arrive());
    root.replaceChildren(...Object.values(this.layers), this.marks.layer, this.ends, this.note.layer);
    this.view = [0, 0, 5];
    this.scene = null;
    this.pointed = null;
    this.draws = 0; // so many times
    root.addEventListener("pointerover", ({ target }) => this.point(target.closest?.(".point")));
    root.addEventListener("pointerleave", () => this.point(null));
    for (const kind of ["focusin", "focusout"]) {
      root.addEventListener(kind, () => queueMicrotask(() => this.annotate()));
    }
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

  scaleOf(view) {
    return new Scale(view, this.width || 600, this.height || 600);
  }

  rescale() {
    this.scale = this.scaleOf(this.view);
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

  /** The point that a mouse is on; null for none. */
  point(mark) {
    const row = mark ? Number(mark.dataset.row) : null;
    if (row === this.pointed) return;
    this.pointed = row;
    this.annotate();
  }

  /** The note beside the point that is pointed at or, without one, focused. */
  annotate() {
    if (this.scene === null) return;
    const { focused } = this.marks;
    this.note.draw(this.scene, this.pointed ?? focused, this.scale, this.unit);
    this.marks.describe(this.scene, focused);
  }

  /**
   * Draw a scene: {points, view, answer, step, line, challenge, hidden, sameRows, isFresh, isKnown, isAsked, pace}; see
   * panel.js. What belongs to another state is dimmed, and where its rows are not those of the points, no row is
   * marked.
   */
  draw(scene) {
    this.draws += 1;
    this.scene = scene;
    this.view = scene.view;
    this.rescale();
    for (const [name, layer] of Object.entries(this.layers)) {
      if (!KEPT.includes(name)) layer.replaceChildren();
      layer.classList.toggle("stale", !scene.isFresh && !ALWAYS_TRUE.includes(name));
    }
    this.keep("grid", [...scene.view, this.width, this.height], () => drawGrid(this.layers.grid, this.scale));
    const field = scene.step || scene.challenge || !scene.isFresh ? null : (scene.answer?.field ?? null);
    const theme = document.documentElement.dataset.theme;
    this.keep("field", [field, theme, this.width, this.height], () => {
      if (field !== null) drawField(this.layers.field, field, this.scale);
    });
    this.motion.go(scene.step && scene.isFresh ? placeOf(scene.step, scene.view) : null, scene.pace);
    this.root.classList.toggle("moving", this.motion.isUnderWay);
    if (scene.line) this.drawOwn(scene.line);
    if (scene.challenge) this.drawChallenge(scene);
    else if (scene.step) this.drawStep(scene);
    else if (scene.answer) this.drawAnswer(scene);
    this.marks.draw(scene, this.scale, this.unit);
    this.drawEnds(scene.line);
    this.root.dataset.draws = this.draws;
    this.annotate();
  }

  /** A layer is drawn anew only where something differs that it shows. */
  keep(name, shown, draw) {
    const layer = this.layers[name];
    if (layer.shown?.every((part, i) => part === shown[i])) return;
    layer.shown = shown;
    layer.replaceChildren();
    draw();
  }

  drawAnswer({ answer, points, hidden, sameRows }) {
    if (!hidden.has("street")) this.drawStreet(answer);
    this.drawLines(answer.lines.zero, "plane", "zero");
    if (!hidden.has("hulls")) this.drawHulls(answer.hulls);
    if (!sameRows) return;
    if (!hidden.has("slack")) this.drawSlack(answer.slack, points);
    if (!hidden.has("support")) this.drawRings(answer.support, points);
  }

  drawStep({ step, points, answer, hidden, sameRows }) {
    this.drawLines(step.lines_before, "plane before", "before");
    if (step.nearest && answer?.hulls && !hidden.has("hulls")) this.drawOutlines(answer.hulls);
    if (this.motion.isUnderWay) this.moveLine();
    else {
      this.drawLines(step.lines, "plane", "zero");
      if (step.nearest) this.drawNearest(step.nearest);
    }
    if (!sameRows) return;
    if (step.row !== null && points[step.row]) {
      const [cx, cy] = this.scale.toPixels(points[step.row]);
      this.layers.step.append(svg("circle", { class: "halo", cx, cy, r: 20 * this.unit }));
    }
    this.drawRings(step.support, points);
  }

  /** On the way to a step: its line where it is now, and the nearest points. */
  moveLine() {
    const { place } = this.motion;
    const [[x1, y1], [x2, y2]] = ends(place, 4 * this.view[2] * (1 + this.width / this.height)).map((end) =>
      this.scale.toPixels(end),
    );
    this.layers.lines.querySelector("[data-line=moving]")?.remove();
    this.layers.lines.append(svg("line", { class: "plane", "data-line": "moving", x1, y1, x2, y2 }));
    this.layers.nearest.replaceChildren();
    if (place.nearest) this.drawNearest(place.nearest);
  }

  arrive() {
    if (this.scene !== null) this.draw(this.scene);
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
    this.drawOutlines(hulls);
    if (witness) {
      this.drawOutlines(witness, " witness");
      this.drawCross(this.scale.toPixels(witness.at));
    } else if (hulls.nearest) this.drawNearest(hulls.nearest);
  }

  drawOutlines(hulls, more = "") {
    for (const side of ["positive", "negative", "mirrored"]) {
      if (hulls[side]) this.polygon(hulls[side], `hull ${side}${more}`);
    }
  }

  drawNearest(nearest) {
    const [p, q] = nearest.map((point) => this.scale.toPixels(point));
    this.layers.nearest.append(svg("line", { class: "nearest-line", x1: p[0], y1: p[1], x2: q[0], y2: q[1] }));
    for (const [cx, cy] of [p, q]) {
      this.layers.nearest.append(svg("circle", { class: "nearest-end", cx, cy, r: 3.5 * this.unit }));
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
      const style = className(points[row][2]);
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
