// The reader's hand on a picture: mouse, finger or pen through pointer events, and the keys of a focused point.
//
// A point that is dragged moves. A point that is clicked is relabelled or deleted if that is the tool, a click beside
// all points adds one. A finger that moves on the empty plane scrolls the page.

import { announce } from "./announce.js";

const STILL = 5; // pixels: less than this is a click
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Hand {
  /** `tool()` is "1", "-1" (add a point of this class), "relabel" or "delete". */
  constructor(figure, store, edits, tool) {
    Object.assign(this, { figure, store, edits, tool, grip: null });
    const { root } = figure;
    root.addEventListener("pointerdown", (event) => this.down(event));
    root.addEventListener("pointermove", (event) => this.move(event));
    root.addEventListener("pointerup", (event) => this.up(event));
    root.addEventListener("pointercancel", () => (this.grip = null));
    root.addEventListener("keydown", (event) => this.key(event));
  }

  down(event) {
    if (event.button !== 0 || this.grip !== null) return;
    const mark = event.target.closest("[data-row], [data-end]");
    const start = this.figure.pixel(event);
    this.grip = { mark, start, moved: false, pointer: event.pointerId };
    if (mark === null) return;
    event.preventDefault();
    mark.focus({ preventScroll: true });
    this.figure.root.setPointerCapture(event.pointerId);
  }

  move(event) {
    const { grip } = this;
    if (grip === null || grip.mark === null || event.pointerId !== grip.pointer) return;
    const [x, y] = this.figure.pixel(event);
    if (!grip.moved) {
      if (Math.hypot(x - grip.start[0], y - grip.start[1]) < STILL) return;
      grip.moved = true;
      this.store.remember();
    }
    this.place(grip.mark, this.figure.scale.toShortData([x, y]));
  }

  up(event) {
    const { grip } = this;
    this.grip = null;
    if (grip === null || event.pointerId !== grip.pointer) return;
    const end = this.figure.pixel(event);
    if (grip.mark === null) {
      if (Math.hypot(end[0] - grip.start[0], end[1] - grip.start[1]) < STILL) this.clickPlane(end);
    } else if (grip.moved) this.tell(grip.mark);
    else if (grip.mark.dataset.row) this.clickPoint(Number(grip.mark.dataset.row));
  }

  clickPlane(pixel) {
    const label = Number(this.tool());
    if (label === 1 || label === -1) this.edits.add(this.figure.scale.toShortData(pixel), label);
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
    let done;
    if (mark === null) done = this.begin(event.key);
    else if (event.key in ARROWS) done = this.nudge(mark, event);
    else done = this.command(mark, event.key);
    if (done) event.preventDefault();
  }

  /** The first point of an empty plane. */
  begin(key) {
    if ((key !== "Enter" && key !== "a") || this.edits.points.length > 0) return false;
    const [x, y] = this.store.state.view;
    this.figure.focusPoint(this.edits.add([x, y], this.tool() === "-1" ? -1 : 1));
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
