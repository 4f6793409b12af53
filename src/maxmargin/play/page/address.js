// The whole state in the fragment of the address, readable and short: a link is a saved state.
//
//   #points=1.5,2,1;0,3,-1&view=0,0,5&a=linear_svm&a.C=10&b=perceptron&b-step=3&lesson=2&hidden=hulls
//   #points=1.5,2,1;0,3,-1&view=0,0,5&a=hard_margin&line=0,0,1,1&revealed=1

const PANELS = ["a", "b"];

export function toFragment(state) {
  const fields = new URLSearchParams();
  fields.set("points", state.points.map((point) => point.join(",")).join(";"));
  fields.set("view", state.view.join(","));
  state.panels.forEach(({ algorithm, parameters, step }, i) => {
    fields.set(PANELS[i], algorithm);
    if (step !== null) fields.set(`${PANELS[i]}-step`, step);
    for (const [name, value] of Object.entries(parameters)) fields.set(`${PANELS[i]}.${name}`, JSON.stringify(value));
  });
  if (state.lesson !== null) fields.set("lesson", state.lesson);
  if (state.line !== null) fields.set("line", state.line.flat().join(","));
  if (state.revealed) fields.set("revealed", "1");
  if (state.hidden.length > 0) fields.set("hidden", state.hidden.join(","));
  // Commas and semicolons are allowed in a fragment, and easier to read than their codes.
  return "#" + fields.toString().replaceAll("%2C", ",").replaceAll("%3B", ";");
}

/** The state that a fragment describes, or null for none. Throws a sentence for what cannot be read. */
export function fromFragment(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  if (!fields.has("points") || !fields.has("a")) return null;
  const points = split(fields.get("points"), ";").map((text) => numbers(text, 3, "a point"));
  for (const [, , label] of points) {
    if (label !== 1 && label !== -1) throw new Error(`a label in the address is ${label}; it must be 1 or -1`);
  }
  const view = numbers(fields.get("view") ?? "0,0,5", 3, "the view");
  if (!(view[2] > 0)) throw new Error(`the view in the address reaches ${view[2]}; it must be positive`);
  const line = fields.has("line") ? numbers(fields.get("line"), 4, "the line") : null;
  return {
    points,
    view,
    panels: PANELS.filter((name) => fields.has(name)).map((name) => readPanel(fields, name)),
    lesson: whole(fields.get("lesson")),
    line: line && [line.slice(0, 2), line.slice(2)],
    revealed: fields.has("revealed"),
    hidden: split(fields.get("hidden") ?? "", ","),
  };
}

function readPanel(fields, name) {
  const parameters = {};
  for (const [key, text] of fields) {
    if (!key.startsWith(`${name}.`)) continue;
    try {
      parameters[key.slice(name.length + 1)] = JSON.parse(text);
    } catch {
      throw new Error(`the address gives ${key} the value ${text}, which cannot be read`);
    }
  }
  return { algorithm: fields.get(name), parameters, step: whole(fields.get(`${name}-step`)) };
}

function split(text, by) {
  return text === "" ? [] : text.split(by);
}

function numbers(text, count, what) {
  const found = split(text, ",").map(Number);
  if (found.length !== count || !found.every(Number.isFinite)) {
    throw new Error(`${what} in the address is ${text || "empty"}; it must be ${count} numbers`);
  }
  return found;
}

function whole(text) {
  const number = text === null ? NaN : Number(text);
  return Number.isInteger(number) && number >= 0 ? number : null;
}
