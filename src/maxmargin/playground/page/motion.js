// From one step to the next: the line turns and moves to its new place, and so do the nearest points of the hulls.
//
// A line is a direction and a distance from the middle of the picture; both change evenly, the direction the shorter
// way round. Whoever wants less motion sees the new place at once.

const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Motion {
  /** `paint()` is called for each frame on the way, `arrive()` at its end. */
  constructor(paint, arrive) {
    Object.assign(this, { paint, arrive, frame: null, to: null, from: null });
  }

  get isUnderWay() {
    return this.frame !== null;
  }

  /** What is drawn now: {angle, offset, nearest} between the last step and this one. */
  get place() {
    const share = this.isUnderWay ? Math.min(1, (performance.now() - this.begun) / this.milliseconds) : 1;
    return between(this.from ?? this.to, this.to, share * share * (3 - 2 * share));
  }

  /** Go to the place of a step; at once where there was none before, or where nobody shall see it move. */
  go(to, milliseconds) {
    if (to === null || this.to === null || calm.matches || !(milliseconds > 0)) return this.stay(to);
    if (same(this.to, to)) return;
    this.from = this.place;
    Object.assign(this, { to, milliseconds, begun: performance.now() });
    this.frame ??= requestAnimationFrame(() => this.tick());
  }

  stay(at) {
    cancelAnimationFrame(this.frame);
    Object.assign(this, { frame: null, from: null, to: at });
  }

  tick() {
    if (performance.now() - this.begun >= this.milliseconds) {
      this.stay(this.to);
      this.arrive();
      return;
    }
    this.frame = requestAnimationFrame(() => this.tick());
    this.paint();
  }
}

/** Where the line of a step is, seen from the middle of the view; null where it has none. */
export function placeOf(step, [x, y]) {
  if (!step?.w || !(Math.hypot(...step.w) > 0)) return null;
  const size = Math.hypot(...step.w);
  const offset = (step.w[0] * x + step.w[1] * y + step.b) / size;
  return { angle: Math.atan2(step.w[1], step.w[0]), offset, nearest: step.nearest, middle: [x, y] };
}

/** Two points of the line, `far` to both sides of the foot from the middle. */
export function ends({ angle, offset, middle: [x, y] }, far) {
  const [across, up] = [Math.cos(angle), Math.sin(angle)];
  const foot = [x - offset * across, y - offset * up];
  return [-far, far].map((away) => [foot[0] - away * up, foot[1] + away * across]);
}

function between(from, to, share) {
  const mix = (a, b) => a + share * (b - a);
  const turn = Math.atan2(Math.sin(to.angle - from.angle), Math.cos(to.angle - from.angle));
  const both = from.nearest && to.nearest;
  const nearest = both ? to.nearest.map((end, i) => end.map((value, j) => mix(from.nearest[i][j], value))) : to.nearest;
  return { angle: from.angle + share * turn, offset: mix(from.offset, to.offset), nearest, middle: to.middle };
}

function same(one, other) {
  return one.angle === other.angle && one.offset === other.offset;
}
