// The reader's hand on a picture: mouse, finger or pen through pointer events, the wheel, and the keys.
//
// A point that is dragged moves. A point that is clicked is relabelled or deleted if that is the tool, a click beside
// all points adds one. The empty plane is moved by a mouse that drags it and by two fingers, which also zoom, as the
// wheel does; one finger on it scrolls the page.

import { announce } from "./announce.js";
import { moved, viewOf, zoomed } from "./scale.js";

const STILL = 5; // pixels: less than this is a click
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const ZOOM = 1.25; // of a key or a button
const WHEEL = 0.0015; // of a pixel of the wheel, as a power of e
const PINCHED = 7; // times that, where a browser tells of two fingers on a touch pad by the wheel
const LINE = 16; // pixels of a wheel that counts lines

export class Hand {
  /** `tool()` is "1", "-1", "2" (add a point of this class), "relabel" or "delete". */
  constructor(figure, store, edits, tool) {
    Object.assign(this, { figure, store, edits, tool, grip: null, fingers: new Map() });
    const { root } = figure;
    root.addEventListener("pointerdown", (event) => this.down(event));
    root.addEventListener("pointermove", (event) => this.move(event));
    root.addEventListener("pointerup", (event) => this.up(event));
    root.addEventListener("pointercancel", (event) => this.letGo(event));
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    // Two fingers are ours: the browser would scroll the page by them.
    const two = (event) => event.touches.length > 1 && event.preventDefault();
    for (const kind of ["touchstart", "touchmove"]) root.addEventListener(kind, two, { passive: false });
  }

  down(event) {
    if (event.button !== 0) return;
    const start = this.figure.pixel(event);
    if (event.pointerType === "touch") this.fingers.set(event.pointerId, start);
    if (this.grip !== null) {
      if (this.grip.mark === null && this.fingers.size === 2) this.beginPinch();
      return;
    }
    const mark = event.target.closest("[data-row], [data-end]");
    const { view } = this.store.state;
    this.grip = { mark, start, view, moved: false, pointer: event.pointerId, isFinger: event.pointerType === "touch" };
    if (mark === null) return;
    event.preventDefault();
    mark.focus({ preventScroll: true });
    this.figure.root.setPointerCapture(event.pointerId);
  }

  move(event) {
    const { grip, fingers } = this;
    const at = this.figure.pixel(event);
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
    if (grip?.isPinch) return this.pinch();
    if (grip === null || event.pointerId !== grip.pointer) return;
    if (grip.mark === null && grip.isFinger) return;
    if (!grip.moved) {
      if (Math.hypot(at[0] - grip.start[0], at[1] - grip.start[1]) < STILL) return;
      grip.moved = true;
      this.figure.root.setPointerCapture(event.pointerId);
      this.figure.root.classList.toggle("held", grip.mark === null);
      if (grip.mark !== null) this.store.remember();
    }
    if (grip.mark !== null) this.place(grip.mark, this.figure.scale.toShortData(at));
    else this.look(moved(grip.view, this.figure.scale.away(at, grip.start)));
  }

  up(event) {
    const { grip } = this;
    this.letGo(event);
    if (grip === null || grip.isPinch || event.pointerId !== grip.pointer) return;
    const end = this.figure.pixel(event);
    if (grip.mark === null) {
      if (Math.hypot(end[0] - grip.start[0], end[1] - grip.start[1]) < STILL) this.clickPlane(end);
    } else if (grip.moved) this.tell(grip.mark);
    else if (grip.mark.dataset.row) this.clickPoint(Number(grip.mark.dataset.row));
  }

  letGo(event) {
    this.fingers.delete(event.pointerId);
    if (this.grip?.isPinch ? this.fingers.size > 0 : event.pointerId !== this.grip?.pointer) return;
    this.grip = null;
    this.figure.root.classList.remove("held");
  }

  beginPinch() {
    for (const finger of this.fingers.keys()) this.figure.root.setPointerCapture(finger);
    const { middle, apart } = this.spread;
    const at = this.figure.scale.toData(middle);
    this.grip = { isPinch: true, view: this.store.state.view, at, middle, apart };
  }

  /** Where two fingers are, and how far from each other. */
  get spread() {
    const [[x0, y0], [x1, y1]] = [...this.fingers.values()];
    return { middle: [(x0 + x1) / 2, (y0 + y1) / 2], apart: Math.max(1, Math.hypot(x1 - x0, y1 - y0)) };
  }

  /** What was between the fingers stays between them. */
  pinch() {
    if (this.fingers.size < 2) return;
    const { view, at, middle, apart } = this.grip;
    const now = this.spread;
    const wider = zoomed(view, apart / now.apart, at);
    this.look(moved(wider, this.figure.scaleOf(wider).away(now.middle, middle)));
  }

  wheel(event) {
    event.preventDefault();
    const turned = event.deltaY * (event.deltaMode === 1 ? LINE : 1) * (event.ctrlKey ? PINCHED : 1);
    const at = this.figure.scale.toData(this.figure.pixel(event));
    this.look(zoomed(this.store.state.view, Math.exp(WHEEL * turned), at));
  }

  look(view) {
    this.store.change({ view });
  }

  clickPlane(pixel) {
    const label = Number(this.tool()); // no number: the tool adds no points
    if (Number.isInteger(label)) this.edits.add(this.figure.scale.toShortData(pixel), label);
  }

  clickPoint(row) {
    if (this.tool() === "relabel") this.edits.relabel(row);
    if (this.tool() === "delete") this.edits.remove(row);
  }

  /** A point, or an end of the reader's own line, to its new place. */
  place(mark, at) {
    if (mark.dataset.row) return this.edits.move(Number(mark.dataset.row), at);
    const line = [...this.store.state.line];
    line[mark.dataset.end] = at;
    this.store.change({ line });
  }

  tell(mark) {
    announce(mark.dataset.row ? `Moved to ${this.edits.describe(Number(mark.dataset.row))}.` : "The line has moved.");
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const mark = event.target.closest("[data-row], [data-end]");
    let done = this.viewKey(event.key);
    if (!done && mark === null) done = event.key in ARROWS ? this.pan(event) : this.begin(event.key);
    else if (!done) done = event.key in ARROWS ? this.nudge(mark, event) : this.command(mark, event.key);
    if (done) event.preventDefault();
  }

  viewKey(key) {
    const { view, points } = this.store.state;
    if (key === "+" || key === "=") this.look(zoomed(view, 1 / ZOOM));
    else if (key === "-") this.look(zoomed(view, ZOOM));
    else if (key === "0") this.look(viewOf(points));
    else return false;
    return true;
  }

  pan(event) {
    const step = (event.shiftKey ? 1 : 0.2) * this.store.state.view[2];
    this.look(moved(this.store.state.view, ARROWS[event.key].map((share) => share * step)));
    return true;
  }

  /** From the picture to its points; on an empty plane, the first one. */
  begin(key) {
    if (key !== "Enter" && key !== "a" && key !== "n") return false;
    const [x, y] = this.store.state.view;
    if (this.edits.points.length > 0) this.figure.focusPoint(this.figure.marks.current);
    else this.figure.focusPoint(this.edits.add([x, y], Number(this.tool()) || 1));
    return true;
  }

  nudge(mark, event) {
    const step = (event.shiftKey ? 20 : 2) / this.figure.scale.pixels;
    const [right, up] = ARROWS[event.key];
    const at = mark.dataset.row ? this.edits.points[mark.dataset.row] : this.store.state.line[mark.dataset.end];
    const { scale } = this.figure;
    if (!event.repeat) this.store.remember();
    this.place(mark, scale.toShortData(scale.toPixels([at[0] + right * step, at[1] + up * step])));
    this.tell(mark);
    return true;
  }

  command(mark, key) {
    if (!mark.dataset.row) return false;
    const row = Number(mark.dataset.row);
    const count = this.edits.points.length;
    if (key === "PageDown" || key === "n") this.figure.focusPoint((row + 1) % count);
    else if (key === "PageUp" || key === "p") this.figure.focusPoint((row + count - 1) % count);
    else if (key === "Home") this.figure.focusPoint(0);
    else if (key === "End") this.figure.focusPoint(count - 1);
    else if (key === " " || key === "l") this.edits.relabel(row);
    else if (key === "Delete" || key === "Backspace") this.removeAndStay(row);
    else if (key === "Enter" || key === "a") this.addBeside(row);
    else if (key === "i") announce(this.figure.note.sentence);
    else return false;
    return true;
  }

  removeAndStay(row) {
    this.edits.remove(row);
    if (this.edits.points.length > 0) this.figure.focusPoint(Math.min(row, this.edits.points.length - 1));
    else this.figure.root.focus();
  }

  addBeside(row) {
    const { scale } = this.figure;
    const [x, y, label] = this.edits.points[row];
    const [column, line] = scale.toPixels([x, y]);
    const added = this.edits.add(scale.toShortData([column + 24, line]), label);
    if (added !== null) this.figure.focusPoint(added);
  }
}
