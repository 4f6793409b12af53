// What the marks in the picture mean; those that can be hidden are switches.

import { holdsProof } from "./figure.js";
import { hasThird } from "./format.js";
import { html, set, svg } from "./svg.js";

const ENTRIES = [
  ["positive", "positive", null],
  ["negative", "negative", null],
  ["third", "third class", null],
  ["street", "street", ({ lines }) => lines.plus.length + lines.minus.length > 0],
  ["support", "support vectors", ({ support }) => support.length > 0],
  ["slack", "slack", ({ slack }) => slack.some(({ from }) => from !== null)],
  ["hulls", "hulls", ({ hulls }) => holdsProof(hulls)],
];

export class Legend {
  constructor(root, store) {
    this.entries = ENTRIES.map(([name, words, present]) => {
      if (present === null) return { name, present, element: html("span", { class: "entry" }, symbol(name), words) };
      const text = html("span", {}, words);
      const element = html("button", { type: "button", class: "entry", "data-part": name }, symbol(name), text);
      element.addEventListener("click", () => {
        const { hidden } = store.state;
        store.change({ hidden: hidden.includes(name) ? hidden.filter((part) => part !== name) : [...hidden, name] });
      });
      return { name, present, element, text };
    });
    root.replaceChildren(...this.entries.map(({ element }) => element));
  }

  /** Of a step only the hulls can be hidden, where it goes between them. */
  show({ hidden, step, points }, answer) {
    for (const { name, present, element, text } of this.entries) {
      if (name === "third") element.hidden = !hasThird(points);
      if (present === null) continue;
      if (name === "support") text.textContent = answer?.hulls?.witness ? "witness" : "support vectors";
      const isThere = step === null ? answer !== null && present(answer) : name === "hulls" && step.nearest !== null;
      element.hidden = !isThere;
      set(element, { "aria-pressed": !hidden.has(name) });
    }
  }
}

function symbol(name) {
  const shapes = {
    positive: () => svg("circle", { class: "shape positive", cx: 9, cy: 6, r: 5 }),
    negative: () => svg("rect", { class: "shape negative", x: 4, y: 1, width: 10, height: 10, rx: 1.5 }),
    third: () => svg("path", { class: "shape third", d: "M9,0.5L14.5,11H3.5Z" }),
    street: () => svg("rect", { class: "street-swatch", x: 0.5, y: 1, width: 17, height: 10 }),
    support: () => svg("circle", { class: "ring", cx: 9, cy: 6, r: 5 }),
    slack: () => svg("line", { class: "slack-swatch", x1: 0, x2: 18, y1: 6, y2: 6 }),
    hulls: () => svg("path", { class: "hull-swatch", d: "M1,10L4,2L14,1L17,8Z" }),
  };
  return svg("svg", { width: 18, height: 12, viewBox: "0 0 18 12", "aria-hidden": true }, shapes[name]());
}
