// The numbers of the answer beside its picture: the plane w, b, and the primal and the dual value P and D.
//
// P is rounded up and D down, so that the best value lies between them as they are printed.

import { outwards, short } from "./format.js";
import { html } from "./svg.js";

export class Readout {
  constructor(root) {
    this.root = root;
    this.shown = "";
  }

  /** Of the step that is drawn, or else of the answer; dimmed where it is of another state. */
  show({ answer, step, isKnown }) {
    const figures = step ? ofStep(step) : answer ? ofAnswer(answer) : [];
    this.root.hidden = figures.length === 0;
    this.root.classList.toggle("stale", !isKnown);
    const shown = JSON.stringify(figures);
    if (shown === this.shown) return; // most frames of a drag change nothing here
    this.shown = shown;
    const terms = figures.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
    this.root.replaceChildren(...terms);
  }
}

function ofAnswer({ plane, values, margin_words: margin }) {
  const figures = plane ? planeFigures(plane) : [];
  if (values.primal !== null) figures.push(["P", sign(values.primal)]);
  if (values.dual !== null) figures.push(["D", sign(values.dual)]);
  if (margin !== null) figures.push(["margin", margin]);
  return figures;
}

function ofStep({ w, b, primal, dual }) {
  const figures = w ? planeFigures({ w, b }) : [];
  if (primal !== null) figures.push(["P", outwards(primal, 1)]);
  if (dual !== null) figures.push(["D", outwards(dual, -1)]);
  return figures;
}

function planeFigures({ w, b }) {
  return [
    ["w", `(${w.map((value) => short(value)).join(", ")})`],
    ["b", short(b)],
  ];
}

function sign(words) {
  return words.replace("-", "−");
}
