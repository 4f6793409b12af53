// What can be done to the points: one function for each, whoever asks, hand or key. Each says what it did.

import { announce } from "./announce.js";
import { className, hasThird, short, THIRD } from "./format.js";

export class Edits {
  constructor(store, limits) {
    this.store = store;
    this.limits = limits;
  }

  get points() {
    return this.store.state.points;
  }

  /** Add a point and return its row, or null where there is no room. */
  add([x, y], label) {
    if (this.points.length >= this.limits.points) {
      announce(`There are ${this.limits.points} points, and no more can be added.`);
      return null;
    }
    this.store.remember();
    this.store.change({ points: [...this.points, [this.within(x), this.within(y), label]] });
    const row = this.points.length - 1;
    announce(`Added ${this.describe(row)}.`);
    return row;
  }

  /** Move without remembering: the start of a drag is remembered, its frames are not. */
  move(row, [x, y]) {
    const points = [...this.points];
    points[row] = [this.within(x), this.within(y), points[row][2]];
    this.store.change({ points });
  }

  relabel(row) {
    this.store.remember();
    const points = [...this.points];
    const [x, y, label] = points[row];
    const next = this.following(label);
    points[row] = [x, y, next];
    this.store.change({ points });
    announce(`Row ${row} is now ${className(next)}.`);
  }

  /** The other class; with three of them, the next one. */
  following(label) {
    if (!hasThird(this.points)) return -label;
    return { 1: -1, [-1]: THIRD, [THIRD]: 1 }[label];
  }

  remove(row) {
    this.store.remember();
    const was = this.describe(row);
    this.store.change({ points: this.points.filter((_, i) => i !== row) });
    announce(`Deleted ${was}. ${this.points.length} are left.`);
  }

  describe(row) {
    const [x, y, label] = this.points[row];
    return `row ${row}, ${className(label)}, at ${short(x)}, ${short(y)}`;
  }

  within(value) {
    return Math.max(-this.limits.coordinate, Math.min(this.limits.coordinate, value));
  }
}
