// What a point has to do with the answer: its row and class, its weight, slack and distance, and why it carries weight
// or none. It stands beside the point that is pointed at, touched or focused, and is read aloud with its name.

import { className, short, typeset } from "./format.js";
import { set, svg } from "./svg.js";

const ROOM = 10; // pixels between the text and the edge of its card
const AWAY = 18; // and between the card and its point
const LINE = 18; // from one line to the next
const WIDEST = 48; // letters of a line
const LETTER = 7.5; // pixels of one, about
const EDGE = 4; // pixels to the edge of the picture
const SPACES = { l1: " (l1)", kernel: " (kernel's space)" };

/** {title, figures: [[name, value], ...], reason} of one row of a scene; see panel.js. */
export function noteOf(scene, row) {
  const [x, y, label] = scene.points[row];
  const title = `Row ${row}, ${className(label)}`;
  const place = ["at", `${short(x)}, ${short(y)}`];
  if (!scene.isKnown) return { title, figures: [place], reason: scene.isAsked ? "checking …" : "" };
  if (scene.challenge) return { title, ...ofLine(scene, row, [place]) };
  if (scene.step) return { title, ...ofStep(scene, row, [place]) };
  return { title, ...ofAnswer(scene, row, [place]) };
}

function ofAnswer({ answer }, row, figures) {
  const { rows, support, space } = answer;
  const own = support.find((one) => one.row === row);
  figures.push(["a", short(own?.a ?? 0) + (own?.bounded ? " (its bound)" : "")]);
  if (rows.slack) figures.push(["slack ξ", short(rows.slack[row])]);
  if (rows.distances) figures.push([`distance${SPACES[space] ?? ""}`, short(rows.distances[row], 6)]);
  return { figures, reason: rows.reasons[rows.why[row]] };
}

function ofStep({ step, points, answer }, row, figures) {
  const own = step.support.find((one) => one.row === row);
  figures.push(["a so far", short(own?.a ?? 0)]);
  if (step.w !== null) {
    const found = distance(points[row], step, answer?.space);
    if (found !== null) figures.push(["distance", short(found, 6)]);
  }
  const reasons = [];
  if (step.row === row) reasons.push("This step is about this row.");
  if (step.measured.mistakes.includes(row)) reasons.push("It is on the wrong side of the line of this step, or on it.");
  return { figures, reason: reasons.join(" ") };
}

function ofLine({ challenge: { yours }, points }, row, figures) {
  figures.push(["distance", short(distance(points[row], yours.plane), 6)]);
  if (yours.mistakes.includes(row)) return { figures, reason: "It is on the wrong side of your line, or on it." };
  return { figures, reason: yours.nearest === row ? "The nearest row: it decides how wide your street is." : "" };
}

/** From a line, positive on the point's own side; null where there is no line. */
function distance([x, y, label], { w, b }, space = "l2") {
  const size = space === "l1" ? Math.abs(w[0]) + Math.abs(w[1]) : Math.hypot(...w);
  return size > 0 ? (label * (w[0] * x + w[1] * y + b)) / size : null;
}

export class Note {
  constructor() {
    this.layer = svg("g", { class: "note", "aria-hidden": true });
    this.row = null;
    this.sentence = "";
  }

  /** Beside its point, on the side where there is room; nothing for row null. */
  draw(scene, row, scale, unit) {
    this.row = row;
    if (row === null || !scene.points[row]) {
      this.sentence = "";
      return this.layer.replaceChildren();
    }
    const { title, figures, reason } = noteOf(scene, row);
    const said = figures.map(([name, value]) => `${name} ${value}`).join(", ");
    this.sentence = `${title}: ${said}. ${typeset(reason)}`.trim();
    const letters = Math.min(WIDEST, Math.floor((scale.width / unit - 4 * ROOM) / LETTER));
    const lines = [svg("tspan", {}, bold(title), ` ${figures[0].join(" ")}`)];
    for (const some of grouped(figures.slice(1), letters)) {
      const parts = some.flatMap(([name, value], i) => [`${i > 0 ? ", " : ""}${name} `, bold(value)]);
      lines.push(svg("tspan", {}, ...parts));
    }
    for (const words of folded(typeset(reason), letters)) lines.push(svg("tspan", { class: "reason" }, words));
    const text = svg("text", {});
    lines.forEach((line, i) => text.append(set(line, { x: ROOM, y: ROOM + 12 + i * LINE })));
    const card = svg("rect", { class: "back", rx: 8 });
    this.layer.replaceChildren(card, text);
    const size = [text.getBBox().width + 2 * ROOM, lines.length * LINE + 2 * ROOM - 4];
    set(card, { width: size[0], height: size[1] });
    const [left, top] = beside(scale.toPixels(scene.points[row]), size.map((side) => side * unit), AWAY * unit, scale);
    set(this.layer, { transform: `translate(${left},${top}) scale(${unit})` });
  }
}

/** The corner of a card that stands to the right of a place, to its left, above or below: where it fits first. */
function beside([x, y], [width, height], away, scale) {
  const within = (at, size, most) => Math.max(EDGE, Math.min(most - size - EDGE, at));
  const top = within(y - height / 2, height, scale.height);
  if (x + away + width + EDGE <= scale.width) return [x + away, top];
  if (x - away - width >= EDGE) return [x - away - width, top];
  const left = within(x - width / 2, width, scale.width);
  return [left, y - away - height >= EDGE ? y - away - height : within(y + away, height, scale.height)];
}

function bold(text) {
  return svg("tspan", { class: "figure-of" }, text);
}

/** Names and values in lines of so many letters. */
function grouped(figures, letters) {
  const lines = [];
  let room = 0;
  for (const [name, value] of figures) {
    const length = name.length + value.length + 3;
    if (length > room) {
      lines.push([]);
      room = letters;
    }
    lines.at(-1).push([name, value]);
    room -= length;
  }
  return lines;
}

/** A sentence in such lines. */
function folded(sentence, letters) {
  const lines = [];
  for (const word of sentence.split(" ").filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < letters) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
