// The grid behind the data: hairlines at round numbers, with small figures along two edges.

import { svg } from "./svg.js";

export function drawGrid(layer, scale) {
  const { left, right, bottom, top, width, height } = scale;
  for (const [x, text] of scale.ticks(left, right)) {
    const [column] = scale.toPixels([x, 0]);
    layer.append(svg("line", { x1: column, x2: column, y1: 0, y2: height }));
    if (column > 34 && column < width - 14) layer.append(label(column, height - 7, "middle", text));
  }
  for (const [y, text] of scale.ticks(bottom, top)) {
    const [, row] = scale.toPixels([0, y]);
    layer.append(svg("line", { x1: 0, x2: width, y1: row, y2: row }));
    if (row > 14 && row < height - 24) layer.append(label(7, row - 4, "start", text));
  }
}

function label(x, y, anchor, text) {
  return svg("text", { x, y, "text-anchor": anchor }, text.replace("-", "−"));
}
