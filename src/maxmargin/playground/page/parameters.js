// The controls of an algorithm's parameters, made from the catalogue: sliders, on a log scale where the parameter asks
// for one, with the number beside them; lists; switches.

import { html, set } from "./svg.js";

const NOTCHES = 1000;

export class Parameters {
  /** `onChange(name, value)` hears of every change by the reader. */
  constructor(root, onChange) {
    this.root = root;
    this.onChange = onChange;
    this.algorithm = null;
    this.controls = [];
  }

  /** `many`: whether there are more than two classes, so that it matters how they become two. */
  show(prefix, algorithm, values, many) {
    if (this.algorithm !== algorithm) {
      this.algorithm = algorithm;
      this.controls = algorithm.parameters.map((parameter) => this.control(prefix, parameter));
      this.root.replaceChildren(...this.controls.map(({ element }) => element));
    }
    const all = { ...defaults(algorithm), ...values };
    for (const { parameter, element, show } of this.controls) {
      const needs = Object.entries(parameter.shown_if ?? {});
      const matters = needs.every(([name, allowed]) => allowed.includes(all[name]));
      element.hidden = !matters || (parameter.name === "multi_class" && !many);
      show(all[parameter.name]);
    }
  }

  control(prefix, parameter) {
    const id = `${prefix}-${parameter.name}`;
    if (parameter.kind === "choice") return this.choice(id, parameter);
    if (parameter.kind === "switch") return this.toggle(id, parameter);
    return this.slider(id, parameter);
  }

  choice(id, parameter) {
    const select = html("select", { id, title: parameter.help });
    for (const { value, label } of parameter.choices) {
      select.append(html("option", { value: JSON.stringify(value) }, label));
    }
    select.addEventListener("change", () => this.onChange(parameter.name, JSON.parse(select.value)));
    const element = html("div", { class: "parameter" }, html("label", { for: id }, parameter.label), select);
    return { parameter, element, show: (value) => (select.value = JSON.stringify(value)) };
  }

  toggle(id, parameter) {
    const box = html("input", { type: "checkbox", id, title: parameter.help });
    box.addEventListener("change", () => this.onChange(parameter.name, box.checked));
    const element = html("div", { class: "parameter switch" }, box, html("label", { for: id }, parameter.label));
    return { parameter, element, show: (value) => (box.checked = value) };
  }

  slider(id, parameter) {
    const change = (value) => this.onChange(parameter.name, value);
    const position = positions(parameter);
    const range = html("input", { type: "range", id, min: 0, max: position.max, step: 1, title: parameter.help });
    const number = html("input", { type: "number", step: "any", "aria-label": `${parameter.label}, as a number` });
    // What the slider goes back to when a value beside the numbers, such as an infinite C, is switched off.
    let last = typeof parameter.default === "number" ? parameter.default : position.value(position.max / 2);
    const also = parameter.also.map(({ value, label }) => {
      const box = html("input", { type: "checkbox" });
      box.addEventListener("change", () => change(box.checked ? value : last));
      return { value, label, box, element: html("label", { class: "also" }, box, label) };
    });
    range.addEventListener("input", () => change(position.value(Number(range.value))));
    number.addEventListener("change", () => {
      const value = Number(number.value);
      if (number.value !== "" && Number.isFinite(value)) change(clip(value, parameter));
    });
    const show = (value) => {
      const special = also.find((each) => each.value === value);
      for (const each of also) each.box.checked = each === special;
      range.disabled = number.disabled = special !== undefined;
      set(range, { "aria-valuetext": special?.label ?? value });
      if (special === undefined) range.value = position.at((last = value));
      if (document.activeElement !== number) number.value = special ? "" : value;
    };
    const label = html("label", { for: id }, parameter.label);
    const slider = html("div", { class: "slider" }, range, number);
    const boxes = also.map((each) => each.element);
    return { parameter, show, element: html("div", { class: "parameter" }, label, slider, ...boxes) };
  }
}

export function defaults(algorithm) {
  return Object.fromEntries(algorithm.parameters.map((parameter) => [parameter.name, parameter.default]));
}

function clip(value, { low, high, kind }) {
  const within = Math.max(low, Math.min(high, value));
  return kind === "integer" ? Math.round(within) : within;
}

/** Between the notches of a slider and values: three digits are enough for a hand. */
function positions({ kind, low, high }) {
  const digits = (value) => Number(value.toPrecision(3));
  if (kind === "integer") {
    return { max: high - low, at: (value) => value - low, value: (notch) => low + Math.round(notch) };
  }
  const [there, back] = kind === "log" ? [Math.log, Math.exp] : [Number, Number];
  const start = there(low), span = there(high) - start;
  return {
    max: NOTCHES,
    at: (value) => Math.round((NOTCHES * (there(value) - start)) / span),
    value: (notch) => digits(back(start + (span * notch) / NOTCHES)),
  };
}
