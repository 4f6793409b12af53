// What is proven, in words and numbers; the theorem's bound against the count; the KKT conditions one by one.

import { short, typeset } from "./format.js";
import { html, svg } from "./svg.js";

const TICK = "✓";
const LENGTH_ONE = { l2: "Best cosine margin", l1: "Best at length 1 (l1)" };
const UNTIL_THE_END = "Measured on the points, as it is drawn. What is proven of the last one is shown without steps.";

export class Proof {
  constructor(panel) {
    this.card = panel.querySelector(".proof");
    this.theorems = panel.querySelector(".theorems");
    this.kkt = panel.querySelector(".kkt");
  }

  /**
   * What was heard last, with a tick only if it is proven of the present state; or why there is nothing yet. While a
   * run is stepped through, `step` is the one whose plane is drawn, and the card speaks of that plane.
   */
  show({ heard, fresh, mark, waiting, step = null }) {
    const { answer = null, error = null } = heard ?? {};
    const proven = step === null && answer?.certificate.proven;
    this.sign(step ? "The plane of this step" : "What is proven", fresh ? (proven ? TICK : "") : heard ? mark : "");
    for (const card of [this.card, this.theorems, this.kkt]) card.classList.toggle("stale", !fresh && heard !== null);
    const shown = step ?? heard ?? waiting;
    if (this.shown === shown && this.heard === heard) return; // most frames of a drag change nothing here
    Object.assign(this, { shown, heard });
    if (step) this.fill(step.measured.verdict, step.measured.figures, [], UNTIL_THE_END);
    else if (answer) this.fillWith(answer);
    else this.fill(error?.sentence ?? waiting, [], [], "");
    this.showTheorems(answer?.theorems ?? [], step !== null);
    this.showConditions(step ? [] : (answer?.kkt ?? []));
  }

  fillWith(answer) {
    const { certificate, status, milliseconds, updates, sweeps } = answer;
    const [verdict, ...words] = certificate.words;
    const effort = [count(updates, "update"), count(sweeps, "sweep"), `${short(milliseconds, 2)} ms`].filter(Boolean);
    this.fill(verdict, figuresOf(answer), words, `${capital(status.words)}. ${effort.join(", ")}.`);
  }

  /** The title of the card, and beside it a tick, or why there is none. */
  sign(title, mark) {
    this.card.querySelector(".title").textContent = title;
    this.card.querySelector(".mark").textContent = mark;
    this.card.classList.toggle("proven", mark === TICK);
  }

  fill(verdict, figures, words, status) {
    const said = this.card.querySelector(".verdict");
    if (said.textContent !== typeset(verdict)) said.textContent = typeset(verdict); // it is read aloud when it changes
    const terms = figures.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, typeset(value))));
    this.card.querySelector(".figures").replaceChildren(...terms);
    this.card.querySelector(".words").replaceChildren(...words.map((sentence) => html("li", {}, typeset(sentence))));
    this.card.querySelector(".status").textContent = status;
  }

  /** The count as a bar in the length of the bound, which it must not pass (or, for a bound from below, must). */
  showTheorems(theorems, stepping) {
    this.theorems.hidden = theorems.length === 0;
    this.theorems.querySelector(".whole-run").hidden = !stepping;
    const bars = theorems.map(({ name, count, bound, at_most, holds, words }) => {
      const whole = Math.max(count, bound ?? 0) || 1;
      const picture = svg("svg", { class: holds ? "bar" : "bar broken", role: "img", viewBox: "0 0 100 8" });
      picture.setAttribute("preserveAspectRatio", "none");
      picture.setAttribute("aria-label", `${short(count)} ${at_most ? "of at most" : "and at least"} ${short(bound)}`);
      picture.append(svg("rect", { class: "whole", width: 100, height: 8 }));
      picture.append(svg("rect", { class: "count", width: Math.max(1, (100 * count) / whole), height: 8 }));
      if (bound !== null) picture.append(svg("rect", { class: "limit", x: (99 * bound) / whole, width: 1, height: 8 }));
      const numbers = `${short(count)} ${at_most ? "≤" : "≥"} ${short(bound)}`;
      const head = html("p", { class: "bound-head" }, html("span", {}, typeset(name)), html("strong", {}, numbers));
      const more = words.startsWith(name) ? [] : [html("p", { class: "quiet" }, typeset(words))];
      return html("div", { class: "bound" }, head, picture, ...more);
    });
    this.theorems.querySelector(".bounds").replaceChildren(...bars);
  }

  showConditions(conditions) {
    this.kkt.hidden = conditions.length === 0;
    const rows = conditions.map(({ condition, words, value, row }) => {
      const where = row === null ? "" : `row ${row}`;
      const name = html("th", { scope: "row" }, capital(condition), html("span", { class: "quiet" }, typeset(words)));
      return html("tr", {}, name, html("td", {}, short(value, 3), html("span", { class: "quiet" }, where)));
    });
    this.kkt.querySelector("tbody").replaceChildren(...rows);
  }
}

/** The numbers that are read first. */
function figuresOf({ certificate, margin_words: margin, street_words: street, normalized, space, support }) {
  const norm = { l1: " (l1)", kernel: " (in the kernel's space)" }[space] ?? "";
  const figures = [];
  if (margin !== null) figures.push([`Margin${norm}`, margin], ["Street", street]);
  if (certificate.lower_words !== null) {
    const { lower_words: low, upper_words: high } = certificate;
    const bounds = low === high ? low : `${low} … ${high}`;
    figures.push([certificate.quantity === "margin" ? "Best margin" : "Least objective", bounds]);
  }
  if (normalized) figures.push([LENGTH_ONE[normalized.norm], normalized.words]);
  if (certificate.gap !== null) figures.push(["Relative gap", certificate.gap_words]);
  if (support.length > 0) figures.push(["Rows with weight", String(support.length)]);
  return figures;
}

function count(number, noun) {
  return number === null ? "" : `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
