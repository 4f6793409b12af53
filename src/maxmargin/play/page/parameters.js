// The controls of an algorithm's parameters, made from the catalogue: sliders, on a log scale where the parameter asks for
// one, with the number beside them; lists; switches.

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

  show(prefix, algorithm, values) {
    if (this.algorithm !== algorithm) {
      this.algorithm = algorithm;
      this.controls = algorithm.parameters.map((parameter) => this.control(prefix, parameter));
      this.root.replaceChildren(...this.controls.map(({ element }) => element));
    }
    const all = { ...defaults(algorithm), ...values };
    for (const { parameter, element, show } of this.controls) {
      const needs = Object.entries(parameter.shown_if ?? {});
      element.hidden = !needs.every(([name, allowed]) => allowed.includes(all[name]));
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
    for (const { value, label } of parameter.choices) select.append(html("option", { value: JSON.stringify(value) }, label));
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
    const position = positions(parameter);
    const range = html("input", { type: "range", id, min: 0, max: position.max, step: 1, title: parameter.help });
    const number = html("input", { type: "number", step: "any", "aria-label": `${parameter.label}, as a number` });
    range.addEventListener("input", () => this.onChange(parameter.name, position.value(Number(range.value))));
    number.addEventListener("change", () => {
      const value = Number(number.value);
      if (number.value !== "" && Number.isFinite(value)) this.onChange(parameter.name, clip(value, parameter));
    });
    const also = (parameter.also ?? []).map(({ value, label }) => this.special(parameter, value, label));
    const element = html(
      "div",
      { class: "parameter" },
      html("label", { for: id }, parameter.label),
      html("div", { class: "slider" }, range, number),
      ...also.map(({ element }) => element),
    );
    let usual = parameter.default;
    const show = (value) => {
      const special = also.some(({ special }) => special === value);
      if (!special) usual = value;
      range.disabled = number.disabled = special;
      if (!special) range.value = position.at(value);
      if (document.activeElement !== number) number.value = special ? "" : String(value);
      set(range, { "aria-valuetext": special ? also.find((each) => each.special === value).label : String(value) });
      for (const each of also) each.box.checked = each.special === value;
    };
    this.usual ??= {};
    this.usual[parameter.name] = () => (also.some(({ special }) => special === usual) ? position.value(position.max / 2) : usual);
    return { parameter, element, show };
  }

  /** A value beside the numbers, such as an infinite C: a box that switches the slider off. */
  special(parameter, special, label) {
    const box = html("input", { type: "checkbox" });
    box.addEventListener("change", () =>
      this.onChange(parameter.name, box.checked ? special : this.usual[parameter.name]()),
    );
    return { special, label, box, element: html("label", { class: "also" }, box, ` ${label}`) };
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
  if (kind === "log") {
    const ratio = Math.log(high / low);
    return {
      max: NOTCHES,
      at: (value) => Math.round((NOTCHES * Math.log(value / low)) / ratio),
      value: (notch) => digits(low * Math.exp((ratio * notch) / NOTCHES)),
    };
  }
  if (kind === "integer" && high - low <= NOTCHES) {
    return { max: high - low, at: (value) => value - low, value: (notch) => low + notch };
  }
  if (kind === "integer") {
    const ratio = Math.log(high / Math.max(1, low));
    return {
      max: NOTCHES,
      at: (value) => Math.round((NOTCHES * Math.log(Math.max(1, value) / Math.max(1, low))) / ratio),
      value: (notch) => Math.round(digits(Math.max(1, low) * Math.exp((ratio * notch) / NOTCHES))),
    };
  }
  return {
    max: NOTCHES,
    at: (value) => Math.round((NOTCHES * (value - low)) / (high - low)),
    value: (notch) => digits(low + ((high - low) * notch) / NOTCHES),
  };
}
