// One multiplier on one variable, to touch: a slider for x, one for the price a, and the saddle between them.
//
// The numbers come from the server, which has the parabola of the lesson; this file draws them.

import { drawField } from "./field.js";
import { short, typeset } from "./format.js";
import { Plot } from "./plot.js";
import { html, set } from "./svg.js";

const byId = (id) => document.getElementById(id);

/** Of the lecture notes: the constraint binds, and it does not. */
export const FIRST = [5, 6.5, 0.5];
const EXAMPLES = [5, -3];
const RANGES = { x: [-6, 10, 0.1], a: [-0.5, 2.5, 0.05] };

export class Multiplier {
  constructor(store, connection) {
    Object.assign(this, { store, connection, told: null });
    byId("touch").addEventListener("click", () => {
      store.remember();
      store.change({ multiplier: store.state.multiplier === null ? FIRST : null, exercise: null });
    });
    byId("multiplier-close").addEventListener("click", () => {
      store.change({ multiplier: null });
      byId("touch").focus();
    });
    this.buttons = EXAMPLES.map((c) => {
      const button = html("button", { type: "button", "aria-pressed": false }, `x ≥ ${short(c)}`);
      button.addEventListener("click", () => this.set(0, c));
      return button;
    });
    this.sliders = Object.entries(RANGES).map(([name, range], i) => this.slider(name, range, i + 1));
    this.find = html("button", { type: "button" }, "To the saddle");
    this.find.addEventListener("click", () => {
      if (this.told) this.move(this.told.saddle.x, this.told.saddle.a);
    });
    byId("multiplier-hands").replaceChildren(
      html("div", { class: "row", role: "group", "aria-label": "Constraint" }, ...this.buttons, this.find),
      ...this.sliders.map(({ element }) => element),
    );
  }

  slider(name, [low, high, step], place) {
    const id = `multiplier-${name}`;
    const range = html("input", { type: "range", id, min: low, max: high, step });
    const value = html("output", { for: id });
    range.addEventListener("input", () => this.set(place, Number(range.value)));
    const words = name === "x" ? "x, the point" : "a, the price of a unit";
    const row = html("div", { class: "slider" }, range, value);
    return { range, value, element: html("div", { class: "parameter" }, html("label", { for: id }, words), row) };
  }

  set(place, value) {
    const next = [...(this.store.state.multiplier ?? FIRST)];
    next[place] = value;
    this.store.remember("multiplier");
    this.store.change({ multiplier: next });
  }

  move(x, a) {
    const [c] = this.store.state.multiplier;
    this.store.remember("multiplier");
    this.store.change({ multiplier: [c, Number(x.toFixed(2)), Number(a.toFixed(2))] });
  }

  update({ multiplier }, before) {
    byId("multiplier").hidden = multiplier === null;
    set(byId("touch"), { "aria-pressed": multiplier !== null });
    if (multiplier === null || multiplier === before?.multiplier) return;
    const [c, x, a] = multiplier;
    this.buttons.forEach((button, i) => set(button, { "aria-pressed": EXAMPLES[i] === c }));
    [x, a].forEach((value, i) => {
      this.sliders[i].range.value = value;
      this.sliders[i].value.textContent = short(value);
    });
    byId("multiplier").classList.add("stale");
    this.connection.ask("a", "multiplier", { given: { c, x, a } }, (answer, error) => {
      if (this.store.state.multiplier !== multiplier) return; // it comes too late
      byId("multiplier").classList.remove("stale");
      if (error) byId("multiplier-words").replaceChildren(html("p", {}, error.sentence));
      else this.draw(answer, c, x, a);
    });
  }

  draw(told, c, x, a) {
    this.told = told;
    byId("multiplier-pictures").replaceChildren(
      figure("f and the Lagrangian", this.curves(told, c, x)),
      figure("The dual function g", this.dual(told, a)),
      figure("The saddle: L over x and a", this.saddle(told, x, a)),
    );
    const rows = told.conditions.map(({ condition, words, value, holds }) => {
      const name = html("th", { scope: "row" }, condition, html("span", { class: "quiet" }, typeset(words)));
      const said = html("td", {}, holds ? "✓" : `off by ${short(value, 3)}`);
      return html("tr", { class: holds ? "holds" : "fails" }, name, said);
    });
    byId("multiplier-words").replaceChildren(
      ...told.words.map((sentence) => html("p", {}, typeset(sentence))),
      html("table", {}, html("tbody", {}, ...rows)),
    );
  }

  curves({ curve, lagrangian, here, bounds, x_range }, c, x) {
    const label = `f(x) = ${short(here.value)} at x = ${short(x)}; the lowest point of L is at ${short(here.lowest)}.`;
    const plot = new Plot({ label, x: { low: x_range[0], high: x_range[1] }, y: { low: -3, high: 9 }, height: 220 });
    plot.band(x_range[0], c, "forbidden");
    plot.line(curve, "loss own");
    plot.line(lagrangian, "lagrangian");
    if (bounds.upper !== null) plot.level(bounds.upper, "upper");
    if (bounds.lower !== null) plot.level(bounds.lower, "lower");
    plot.dot([x, here.value], bounds.upper === null ? "point forbidden-point" : "point");
    plot.dot([here.lowest, here.dual], "point lowest");
    plot.word([here.lowest, here.dual], "g(a)", "label", [0, 15], "middle");
    plot.word([x, here.value], "f(x)", "label");
    return plot.root;
  }

  dual({ dual, here, saddle, a_range }, a) {
    const label = `g(a) = ${short(here.dual)} at a = ${short(a)}; it is highest at ${short(saddle.a)}.`;
    const plot = new Plot({ label, x: { low: a_range[0], high: a_range[1] }, y: { low: -5, high: 3 }, height: 220 });
    plot.band(a_range[0], 0, "forbidden");
    plot.line(dual, "loss own");
    plot.level(saddle.value, "upper");
    plot.dot([a, here.dual], "point lowest");
    return plot.root;
  }

  saddle({ field, saddle, x_range, a_range, here }, x, a) {
    const where = ({ x: point, a: price }) => `x = ${short(point)} and a = ${short(price)}`;
    const label = `L = ${short(here.lagrangian)} at ${where({ x, a })}; the saddle is at ${where(saddle)}.`;
    const [low, high] = x_range;
    const plot = new Plot({ label, x: { low, high }, y: { low: a_range[0], high: a_range[1] }, height: 220 });
    const largest = Math.max(...field.values.map(Math.abs)) / 6; // near the saddle the colours tell most
    const values = field.values.map((value) => Math.sign(value) * Math.sqrt(Math.min(1, Math.abs(value) / largest)));
    plot.picture((layer, box) => drawField(layer, { ...field, values }, box, 150));
    plot.upright(x, "here");
    plot.level(a, "here");
    plot.dot([saddle.x, saddle.a], "saddle-point", 5);
    plot.dot([x, a], "point");
    plot.root.classList.add("touchable");
    const follow = (event) => {
      const box = plot.root.getBoundingClientRect();
      const scale = plot.width / box.width;
      this.move(...plot.dataAt([(event.clientX - box.left) * scale, (event.clientY - box.top) * scale]));
    };
    plot.root.addEventListener("pointerdown", follow);
    return plot.root;
  }
}

function figure(caption, picture) {
  return html("figure", {}, html("figcaption", {}, caption), picture);
}
