// The whole state in the fragment of the address, readable and short: a link is a saved state.
//
//   #points=1.5,2,1;0,3,-1&view=0,0,5&a=linear_svm&a.C=10&b=perceptron&b-step=3&lesson=2&hidden=hulls
//   #points=1.5,2,1;0,3,-1&view=0,0,5&a=hard_margin&line=0,0,1,1&revealed=1&open=path,loss
//   ...&exercise=widest+street,3 or &multiplier=5,6.5,0.5

import { THIRD } from "./format.js";
import { isView, REACH, viewOf } from "./scale.js";

const PANELS = ["a", "b"];
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

export function toFragment(state) {
  const fields = new URLSearchParams();
  fields.set("points", state.points.map((point) => point.join(",")).join(";"));
  fields.set("view", state.view.join(","));
  state.panels.forEach(({ algorithm, parameters, step, plane }, i) => {
    fields.set(PANELS[i], algorithm);
    if (step !== null) fields.set(`${PANELS[i]}-step`, step);
    if (Number.isInteger(plane)) fields.set(`${PANELS[i]}-plane`, plane);
    for (const [name, value] of Object.entries(parameters)) fields.set(`${PANELS[i]}.${name}`, JSON.stringify(value));
  });
  if (state.lesson !== null) fields.set("lesson", state.lesson);
  if (state.line !== null) fields.set("line", state.line.flat().join(","));
  if (state.revealed) fields.set("revealed", "1");
  if (state.hidden.length > 0) fields.set("hidden", state.hidden.join(","));
  if (state.open.length > 0) fields.set("open", state.open.join(","));
  if (state.exercise !== null) fields.set("exercise", state.exercise.join(","));
  if (state.multiplier !== null) fields.set("multiplier", state.multiplier.join(","));
  // Commas and semicolons are allowed in a fragment, and easier to read than their codes.
  return "#" + fields.toString().replaceAll("%2C", ",").replaceAll("%3B", ";");
}

/**
 * The state that a fragment describes and sentences about what had to be replaced in it, or null for an empty fragment.
 * Throws a sentence where no state can be read.
 */
export function fromFragment(fragment, { algorithms, lessons, exercises }) {
  const text = fragment.replace(/^#/, "");
  if (text === "") return null;
  const fields = new URLSearchParams(text);
  for (const name of ["points", "a"]) {
    if (!fields.has(name)) throw new Error(`it has no “${name}=…”; perhaps its end was cut off`);
  }
  const complaints = [];
  const points = split(fields.get("points"), ";").map((point) => numbers(point, 3, "a point"));
  for (const [, , label] of points) {
    if (![1, -1, THIRD].includes(label)) throw new Error(`a label in the address is ${label}; it must be 1, -1 or 2`);
  }
  const line = fields.has("line") ? numbers(fields.get("line"), 4, "the line") : null;
  const panels = PANELS.filter((name) => fields.has(name)).map((name) => readPanel(fields, name, complaints));
  for (const { algorithm } of panels) {
    if (!algorithms.some(({ name }) => name === algorithm)) {
      throw new Error(`the address asks for ${algorithm}, which is not an algorithm of this playground`);
    }
  }
  const state = {
    points,
    view: readView(fields.get("view"), points, complaints),
    panels,
    lesson: whole(fields, "lesson", lessons.length - 1, complaints),
    line: line && [line.slice(0, 2), line.slice(2)],
    revealed: fields.has("revealed"),
    hidden: split(fields.get("hidden") ?? "", ","),
    open: split(fields.get("open") ?? "", ","),
    exercise: readExercise(fields.get("exercise"), exercises, complaints),
    multiplier: fields.has("multiplier") ? numbers(fields.get("multiplier"), 3, "the multiplier") : null,
  };
  return { state, complaints };
}

function readView(text, points, complaints) {
  if (text === null) return viewOf(points);
  const view = split(text, ",").map(number);
  if (isView(view)) return view;
  const [smallest, largest] = REACH.map((reach) => reach.toExponential().replace("+", ""));
  const must = `it must be x, y and a reach between ${smallest} and ${largest}`;
  complaints.push(`the view in the address is ${text || "empty"}; ${must}, and all points are shown instead`);
  return viewOf(points);
}

function readExercise(text, exercises, complaints) {
  if (text === null) return null;
  const [name, seed] = split(text, ",");
  const known = exercises.some((each) => each.name === name);
  if (known && /^\d{1,4}$/.test(seed ?? "")) return [name, Number(seed)];
  complaints.push(`the exercise in the address is ${text || "empty"}, which there is not, and is left out`);
  return null;
}

function readPanel(fields, name, complaints) {
  const parameters = {};
  for (const [key, text] of fields) {
    if (!key.startsWith(`${name}.`)) continue;
    try {
      parameters[key.slice(name.length + 1)] = JSON.parse(text);
    } catch {
      throw new Error(`the address gives ${key} the value ${text}, which cannot be read`);
    }
  }
  const [step, plane] = ["step", "plane"].map((part) => whole(fields, `${name}-${part}`, Infinity, complaints));
  return { algorithm: fields.get(name), parameters, step, plane };
}

function split(text, by) {
  return text === "" ? [] : text.split(by);
}

function number(text) {
  return NUMBER.test(text) ? Number(text) : NaN;
}

function numbers(text, count, what) {
  const found = split(text, ",").map(number);
  if (found.length !== count || !found.every(Number.isFinite)) {
    throw new Error(`${what} in the address is ${text || "empty"}; it must be ${count} numbers`);
  }
  return found;
}

function whole(fields, name, most, complaints) {
  if (!fields.has(name)) return null;
  const value = number(fields.get(name));
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  complaints.push(`${name} in the address is ${fields.get(name) || "empty"}, which there is not, and is left out`);
  return null;
}
