// The dual side of an answer, from its own numbers: the weight of each row, and the hulls with their nearest points.

import { className, hasThird, short } from "./format.js";
import { Scale, viewOf } from "./scale.js";
import { coordinates, html, svg } from "./svg.js";

const MOST = 30; // rows that are listed

export function drawWeights({ support, certificate, hulls }, points) {
  const rows = support.toSorted((one, other) => other.a - one.a);
  const largest = rows[0]?.a ?? 1;
  const lines = rows.slice(0, MOST).map(({ row, a, bounded }) => {
    const side = className(points[row]?.[2] ?? 1);
    const bar = svg("svg", { class: "weight", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": true });
    bar.append(svg("rect", { class: side, width: Math.max(0.5, (100 * a) / largest), height: 8 }));
    const name = html("th", { scope: "row" }, `Row ${row}`, html("span", { class: "quiet" }, side));
    const note = bounded ? html("span", { class: "quiet" }, "at its bound C") : "";
    return html("tr", {}, name, html("td", { class: "bar-cell" }, bar), html("td", {}, short(a), note));
  });
  const sides = [1, -1].map((label) => sum(rows.filter(({ row }) => points[row]?.[2] === label)));
  const what = hulls?.witness ? "The weights of the witness" : "The dual variables a";
  const words = [`${what}: ${rows.length} of ${points.length} rows have one.`];
  if (certificate.verdict === "OPTIMAL") words.push("The others could be deleted, and the plane would stay.");
  if (!hasThird(points)) {
    const equal = Math.abs(sides[0] - sides[1]) <= 1e-4 * (sides[0] + sides[1]);
    const balance = equal ? "; they are equal: Σ aᵢ yᵢ = 0" : "";
    words.push(`Their sums: ${short(sides[0])} positive, ${short(sides[1])} negative${balance}.`);
  }
  if (rows.length > MOST) words.push(`The largest ${MOST} are listed.`);
  const head = ["Row", "", "a"].map((text) => html("th", { scope: "col" }, text));
  const table = html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...lines));
  return [...(rows.length > 0 ? [table] : []), ...words.map((sentence) => html("p", {}, sentence))];
}

function sum(rows) {
  return rows.reduce((total, { a }) => total + a, 0);
}

export function drawHulls({ hulls }, points) {
  if (hulls === null) return [html("p", {}, "In the space of a kernel the hulls cannot be drawn.")];
  const all = [...points, ...(hulls.mirrored ?? []), ...(hulls.mirrored ? [[0, 0]] : [])];
  const scale = new Scale(viewOf(all), 320, 240);
  const at = (places) => coordinates(places.map((place) => scale.toPixels(place)));
  const root = svg("svg", { class: "chart hull-picture", role: "img", viewBox: "0 0 320 240" });
  for (const side of ["positive", "negative", "mirrored"]) {
    if (hulls[side]) root.append(svg("polygon", { class: `hull ${side}`, points: at(hulls[side]) }));
    const corners = hulls.witness?.[side];
    if (corners) root.append(svg("polygon", { class: `hull ${side} witness`, points: at(corners) }));
  }
  for (const [x, y, label] of points) {
    const [cx, cy] = scale.toPixels([x, y].map((value) => (hulls.mirrored ? label * value : value)));
    root.append(svg("circle", { class: className(label), cx, cy, r: 2 }));
  }
  if (hulls.witness) {
    const [x, y] = scale.toPixels(hulls.witness.at);
    root.append(svg("path", { class: "cross", d: "M-6,-6l12,12m0,-12l-12,12", transform: `translate(${x},${y})` }));
  } else if (hulls.nearest) {
    const [[x1, y1], [x2, y2]] = hulls.nearest.map((place) => scale.toPixels(place));
    root.append(svg("line", { class: "nearest-line", x1, y1, x2, y2 }));
  }
  const words = hullWords(hulls);
  root.setAttribute("aria-label", words);
  return [root, html("p", {}, words)];
}

function hullWords({ witness, nearest, distance, mirrored }) {
  if (witness) {
    const [x, y] = witness.at.map((value) => short(value));
    return `The hulls of rows ${witness.rows.join(", ")} meet at (${x}, ${y}): no line has one class on each side.`;
  }
  if (nearest && mirrored) {
    return `The hull of all y x comes within ${short(distance)} of the origin: no margin is larger.`;
  }
  if (nearest) {
    return `Two points of the hulls, made by the weights, are ${short(distance)} apart: no street is wider.`;
  }
  return "The hulls of the classes. A soft margin lets rows pay instead: its street may reach into them.";
}
