// The values of a kernel's decision function as a faint wash: each side in its colour, paler towards the boundary.

import { THIRD } from "./format.js";
import { svg } from "./svg.js";

const DEEPEST = 34; // of 255: points and lines must stay readable on it

/** `values` are those of the decision function; `labels` say which class is predicted, and `values` then how surely. */
export function drawField(layer, { columns, rows, values, labels }, scale, deepest = DEEPEST) {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  const colours = { 1: colour("--positive"), [-1]: colour("--negative"), [THIRD]: colour("--third") };
  const shadeOf = (value) => [value >= 0 ? 1 : -1, Math.abs(value)];
  const shades = labels?.map((label, i) => [label, values?.[i] ?? 1]) ?? values.map(shadeOf);
  shades.forEach(([label, depth], i) => {
    const row = rows - 1 - Math.floor(i / columns); // values come from the bottom, images from the top
    const at = 4 * (row * columns + (i % columns));
    image.data.set(colours[label], at);
    image.data[at + 3] = deepest * Math.min(1, depth);
  });
  context.putImageData(image, 0, 0);
  // The first and the last value lie on the edges of the view, in the middle of their pixels.
  const [cellWidth, cellHeight] = [scale.width / (columns - 1), scale.height / (rows - 1)];
  layer.append(
    svg("image", {
      href: canvas.toDataURL(),
      x: -cellWidth / 2,
      y: -cellHeight / 2,
      width: columns * cellWidth,
      height: rows * cellHeight,
      preserveAspectRatio: "none",
    }),
  );
}

/** A colour of the theme, which is written as #rrggbb, as three numbers. */
function colour(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((start) => parseInt(text.slice(start, start + 2), 16));
}
