// Two curves that the server computes: what a row costs by its margin, and the soft margin over C.

import { short, typeset } from "./format.js";
import { Plot } from "./plot.js";
import { html, svg } from "./svg.js";

const HIGHEST = 4; // of the loss: what is above is not shown

export function drawLoss({ curves, rows, low, high, words }) {
  const plot = new Plot({
    label: `The loss over the margin. ${words[0]}`,
    x: { low: Math.max(low, -5), high: Math.min(high, 6) },
    y: { low: -0.7, high: HIGHEST },
    height: 200,
  });
  plot.band(-1, 1, "inside");
  const steps = [[low, 1], [0, 1], [0, 0], [high, 0]];
  plot.line(steps, "zero-one");
  for (const { name, own, points } of curves) {
    plot.line([...points, [high, 0]], own ? "loss own" : `loss ${name}`);
  }
  for (const { sign, margin } of rows) {
    const [top, bottom] = sign > 0 ? [-0.1, -0.35] : [-0.4, -0.65];
    plot.line([[margin, top], [margin, bottom]], sign > 0 ? "rug positive" : "rug negative");
  }
  const names = curves.map(({ title, own, name }) => legend(own ? "loss own" : `loss ${name}`, title));
  return [
    plot.root,
    html("p", { class: "key" }, ...names, legend("zero-one", "0-1 loss")),
    html("p", { class: "quiet" }, "Across: y f(x), 1 on the edge of the street. Each stroke below is a row."),
    ...words.map((sentence) => html("p", {}, typeset(sentence))),
  ];
}

export function drawPath({ points, end, here, words }) {
  if (points.length < 2) return words.map((sentence) => html("p", {}, typeset(sentence)));
  const across = { low: points[0].C, high: points.at(-1).C, log: true };
  const margins = points.map(({ margin }) => margin).filter(Number.isFinite);
  const margin = new Plot({
    label: `The margin falls from ${short(margins[0])} at C = ${short(across.low)} to ${short(margins.at(-1))}.`,
    x: across,
    y: { low: Math.min(...margins) * 0.9, high: Math.max(...margins) * 1.1, log: true },
    height: 140,
  });
  margin.line(points.map(({ C, margin: width }) => [C, width]), "loss own");
  const most = Math.max(1, ...points.map(({ support }) => support));
  const upwards = { low: 0, high: most * 1.05 };
  const counts = new Plot({ label: "Rows with weight, inside, and mistaken", x: across, y: upwards, height: 140 });
  for (const name of ["support", "inside", "mistakes"]) {
    counts.line(points.map((point) => [point.C, point[name]]), `count ${name}`);
  }
  for (const plot of [margin, counts]) {
    if (here !== null && here >= across.low && here <= across.high) plot.upright(here, "here");
    if (end !== null && end <= across.high) plot.upright(end, "end");
  }
  const last = points.at(-1);
  return [
    html("h3", {}, "Margin"),
    margin.root,
    html("h3", {}, "Rows"),
    counts.root,
    html(
      "p",
      { class: "key" },
      legend("count support", `with weight (${last.support} at the end)`),
      legend("count inside", `inside the street (${last.inside})`),
      legend("count mistakes", `mistakes (${last.mistakes})`),
    ),
    html("p", { class: "quiet" }, `Across: C. ${here === null ? "" : "The dashed line is the C of this panel."}`),
    ...words.map((sentence) => html("p", {}, typeset(sentence))),
  ];
}

function legend(style, words) {
  const stroke = svg("polyline", { class: style, points: "0,5 24,5" });
  return html("span", {}, svg("svg", { class: "swatch", viewBox: "0 0 24 10", "aria-hidden": true }, stroke), words);
}
