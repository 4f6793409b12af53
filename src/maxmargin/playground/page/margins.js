// The two margins of the rows at length 1 with what ties them, and Winnow's last run as a game.

import { className, percent, short, typeset } from "./format.js";
import { html, svg } from "./svg.js";

const MOST = 12; // rows that are listed
const WIDTH = 320;
const ROOM = 12; // pixels beside the scale
const NAMES = {
  l2: ["g_P, l2", "the largest cosine"],
  l1: ["g_W, l1", "its l1 relative"],
};

export function drawTwoMargins({ separable, l2, l1, tie, own, verified, words }) {
  const sentences = words.map((sentence) => html("p", {}, typeset(sentence)));
  if (separable === false) return sentences;
  const titles = ["Margin", "Rows at length 1", "Its plane, your space"];
  const head = titles.map((text) => html("th", { scope: "col" }, text));
  const lines = Object.entries({ l2, l1 }).map(([name, margin]) => {
    const [title, more] = NAMES[name];
    const first = html("th", { scope: "row" }, title, html("span", { class: "quiet" }, more));
    return html("tr", {}, first, html("td", {}, margin.words), html("td", {}, margin.in_own_space_words ?? "unknown"));
  });
  const best = html("th", { scope: "row" }, "Best, your space", html("span", { class: "quiet" }, "l2"));
  lines.push(html("tr", {}, best, html("td", {}), html("td", {}, own.words)));
  const table = html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...lines));
  const mark = verified ? "Both are verified from the points alone." : "Not verified.";
  return [table, pictureOfTie(l2, l1, tie), ...sentences, html("p", { class: "quiet" }, mark)];
}

/** From 0 on: where g_W may lie, and both margins. */
function pictureOfTie(l2, l1, tie) {
  const across = (value) => ROOM + ((WIDTH - 2 * ROOM) * value) / (tie.upper || 1);
  const root = svg("svg", { class: "chart plot tie", role: "img", viewBox: `0 0 ${WIDTH} 62` });
  root.setAttribute("aria-label", `g_P is ${l2.words}, and g_W, ${l1.words}, lies within ${tie.words}.`);
  const [start, end] = [tie.lower, tie.upper].map(across);
  root.append(svg("line", { class: "tick", x1: across(0), x2: end, y1: 31, y2: 31 }));
  root.append(svg("rect", { class: "forbidden", x: start, y: 24, width: Math.max(1, end - start), height: 14 }));
  root.append(svg("text", { class: "tick", x: across(0), y: 52, "text-anchor": "middle" }, "0"));
  const ends = [[start, "g_P/√m"], [end, "√m·g_P"]];
  for (const [x, name] of ends) {
    root.append(svg("text", { class: "tick", x, y: 52, "text-anchor": x > WIDTH / 2 ? "end" : "middle" }, name));
  }
  for (const [name, margin] of [["g_P", l2], ["g_W", l1]]) {
    const x = across((margin.lower + margin.upper) / 2);
    root.append(svg("circle", { class: name === "g_W" ? "point lowest" : "point", cx: x, cy: 31, r: 4.5 }));
    root.append(svg("text", { class: "tick", x, y: 16, "text-anchor": "middle" }, name));
  }
  return root;
}

export function drawGame({ weights, rows, rounds, value, regret, words }, points) {
  const largest = Math.max(...weights.map(({ share }) => share), Number.MIN_VALUE);
  const mixture = weights.map(({ name, share }) => {
    const title = name.replace("-", "−");
    return line(title, share / largest, name.startsWith("-") ? "negative" : "positive", percent(share));
  });
  const most = rows[0]?.share ?? 1;
  const chosen = rows.slice(0, MOST).map(({ row, share, times }) => {
    const side = className(points[row]?.[2] ?? 1);
    return line(`Row ${row}`, share / most, side, `${times} × (${percent(share)})`);
  });
  const rest = html("p", { class: "quiet" }, `The ${MOST} most frequent of ${rows.length}.`);
  const more = rows.length > MOST ? [rest] : [];
  const figures = [["Rounds", short(rounds)], ["Value", value.words], ["Regret", regret.words]];
  const terms = figures.map(([name, text]) => html("div", {}, html("dt", {}, name), html("dd", {}, typeset(text))));
  return [
    html("dl", { class: "figures" }, ...terms),
    html("h3", {}, "The mixture of weights"),
    html("table", {}, html("tbody", {}, ...mixture)),
    html("h3", {}, "The rows chosen against it"),
    html("table", {}, html("tbody", {}, ...chosen)),
    ...more,
    ...words.map((sentence) => html("p", {}, typeset(sentence))),
  ];
}

function line(name, share, side, text) {
  const bar = svg("svg", { class: "weight", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": true });
  bar.append(svg("rect", { class: side, width: Math.max(0.5, 100 * share), height: 8 }));
  const cell = html("td", { class: "bar-cell" }, bar);
  return html("tr", {}, html("th", { scope: "row" }, name), cell, html("td", {}, text));
}
