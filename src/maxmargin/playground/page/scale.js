// The part of the plane that is shown, and the way between data and pixels.
//
// A view is a centre and a reach [x, y, r]: the square |X - x| <= r, |Y - y| <= r is always visible, with the same
// scale on both axes, so that a right angle looks like one and a margin has one length in all directions.

/** The smallest and the largest reach: beyond them numbers run out of digits, and the server draws nothing. */
export const REACH = [1e-6, 4e6];
const FARTHEST = 4e6; // of the centre

export function isView(view) {
  const [x, y, reach] = view;
  const near = Math.abs(x) <= FARTHEST && Math.abs(y) <= FARTHEST;
  return view.length === 3 && near && reach >= REACH[0] && reach <= REACH[1];
}

/** The nearest reach that there is. */
export function within(reach) {
  return Math.max(REACH[0], Math.min(REACH[1], reach));
}

/** As many digits as can be told apart on a screen, however near or far it is: a link stays short. */
function tidy([x, y, reach]) {
  const kept = within(Number(reach.toPrecision(4)));
  const digits = Math.max(0, Math.min(12, 4 - Math.floor(Math.log10(kept))));
  const centre = [x, y].map((value) => Math.max(-FARTHEST, Math.min(FARTHEST, Number(value.toFixed(digits)))));
  return [...centre, kept];
}

/** The view `factor` times as wide, in which the point `at` of the data stays where it is on the screen. */
export function zoomed([x, y, reach], factor, at = [x, y]) {
  const share = within(reach * factor) / reach;
  return tidy([at[0] + (x - at[0]) * share, at[1] + (y - at[1]) * share, reach * share]);
}

/** The view moved by so much of the data. */
export function moved([x, y, reach], [right, up]) {
  return tidy([x + right, y + up, reach]);
}

export class Scale {
  constructor([x, y, reach], width, height) {
    this.width = width;
    this.height = height;
    this.pixels = Math.min(width, height) / (2 * reach); // per unit
    this.left = x - width / 2 / this.pixels;
    this.right = x + width / 2 / this.pixels;
    this.bottom = y - height / 2 / this.pixels;
    this.top = y + height / 2 / this.pixels;
  }

  toPixels([x, y]) {
    return [(x - this.left) * this.pixels, (this.top - y) * this.pixels];
  }

  toData([column, row]) {
    return [this.left + column / this.pixels, this.top - row / this.pixels];
  }

  /** The way from one pixel to another, in the data. */
  away(from, to) {
    return [(to[0] - from[0]) / this.pixels, (from[1] - to[1]) / this.pixels];
  }

  /** Data coordinates as short as a pixel allows: what a hand has placed has no seventeen digits. */
  toShortData(pixel) {
    const digits = Math.max(0, Math.min(12, Math.ceil(Math.log10(this.pixels))));
    return this.toData(pixel).map((value) => Number(value.toFixed(digits)));
  }

  get box() {
    return { left: this.left, right: this.right, bottom: this.bottom, top: this.top };
  }

  /** Round numbers between two ends, one for every 60 pixels or more. */
  ticks(low, high) {
    const wanted = 60 / this.pixels;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].find((times) => times * power >= wanted) * power;
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    const ticks = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push([k * step, (k * step).toFixed(digits)]);
    return ticks;
  }
}

/** The view that shows all points, with room around them. */
export function viewOf(points) {
  if (points.length === 0) return [0, 0, 5];
  const middle = [0, 1].map((axis) => {
    const values = points.map((point) => point[axis]);
    const low = Math.min(...values), high = Math.max(...values);
    return { at: (low + high) / 2, half: (high - low) / 2 };
  });
  const half = Math.max(middle[0].half, middle[1].half) || 1;
  const reach = within(Number((half * 1.25).toPrecision(4)));
  // As many digits of the centre as the reach needs, however far away it is.
  const digits = Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(reach))));
  return [...middle.map(({ at }) => Number(at.toFixed(digits))), reach];
}
