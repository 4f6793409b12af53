// Probabilities in a small picture of their own: the likeliest class in its colour, deeper where it is surer, lines of
// equal probability, and a place to point at. They are estimates, and the card says so.

import { drawField } from "./field.js";
import { className, percent, short, typeset } from "./format.js";
import { coordinates, html, set, svg } from "./svg.js";

const WIDTH = 320;
const DEEPEST = 170; // of 255
const STEP = 8; // pixels of an arrow key
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function drawProbability({ view, classes, field, lines, curve, rows, words }, points) {
  const height = (WIDTH * (view.top - view.bottom)) / (view.right - view.left);
  const pixels = WIDTH / (view.right - view.left);
  const at = ([x, y]) => [(x - view.left) * pixels, (view.top - y) * pixels];
  const label = "How probable each class is, as an estimate. Point at a place, or move by the arrow keys.";
  const root = svg("svg", { class: "chart probability", viewBox: `0 0 ${WIDTH} ${height}`, tabindex: 0 });
  set(root, { role: "application", "aria-label": label });
  const layer = root.appendChild(svg("g"));
  const least = 1 / classes.length;
  const values = field.values.map((value) => (value - least) / (1 - least)); // equal chances have no colour
  drawField(layer, { ...field, values }, { width: WIDTH, height }, DEEPEST);
  for (const { level, lines: polylines } of lines) {
    for (const line of polylines) {
      const style = level === 0.5 ? "level even" : "level";
      root.append(svg("polyline", { class: style, "data-level": level, points: coordinates(line.map(at)) }));
    }
    const end = lines.length > 0 && polylines[0]?.at(Math.floor(polylines[0].length / 2));
    if (end) {
      const [x, y] = at(end);
      root.append(svg("text", { class: "level-name", x: x + 3, y: y - 3 }, String(level)));
    }
  }
  points.forEach(([x, y, own]) => {
    const [cx, cy] = at([x, y]);
    root.append(svg("circle", { class: `dot ${className(own)}`, cx, cy, r: 2.5 }));
  });
  const cross = root.appendChild(svg("path", { class: "cross", d: "M-6,0h12M0,-6v12", visibility: "hidden" }));
  const said = html("p", { class: "place", role: "status" }, "Point at a place, or move by the arrow keys.");
  let place = [WIDTH / 2, height / 2];
  const tell = ([column, row]) => {
    place = [Math.max(0, Math.min(WIDTH, column)), Math.max(0, Math.min(height, row))];
    cross.setAttribute("transform", `translate(${place.join(",")})`);
    cross.setAttribute("visibility", "visible");
    const [x, y] = [view.left + place[0] / pixels, view.top - place[1] / pixels];
    const i = Math.round((place[0] / WIDTH) * (field.columns - 1));
    const j = Math.round((1 - place[1] / height) * (field.rows - 1));
    const index = j * field.columns + i;
    const likely = `${className(field.labels[index])}, ${percent(field.values[index])}`;
    said.textContent = `About (${short(x, 3)}, ${short(y, 3)}): ${likely}, estimated.`;
  };
  root.addEventListener("pointermove", (event) => tell(pixelOf(root, event)));
  root.addEventListener("pointerdown", (event) => tell(pixelOf(root, event)));
  root.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    tell(place.map((value, axis) => value + STEP * arrow[axis]));
  });
  const mean = rows.reduce((total, value) => total + value, 0) / rows.length;
  const numbers = [`The points give their own class ${percent(mean)} on average.`];
  if (curve) numbers.push(`p = 1 / (1 + exp(−(${short(curve.slope)} f + ${short(curve.offset)}))).`);
  return [root, said, ...[...words, ...numbers].map((sentence) => html("p", {}, typeset(sentence)))];
}

function pixelOf(root, event) {
  const box = root.getBoundingClientRect();
  return [((event.clientX - box.left) * WIDTH) / box.width, ((event.clientY - box.top) * WIDTH) / box.width];
}
