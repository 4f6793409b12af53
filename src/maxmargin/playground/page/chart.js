// The primal and the dual value, round by round: two lines that close, and the gap between them as an area.
//
// Any plane bounds the best value from one side and any weights from the other. Early rounds can be worse by powers of
// ten than late ones; where all values are positive and differ by more than fifty times, the height is logarithmic.

import { short } from "./format.js";
import { coordinates, set, svg } from "./svg.js";

const WIDTH = 320;
const HEIGHT = 130;
const ROOM = { left: 2, right: 46, top: 12, bottom: 12 };
const LARGEST_RATIO = 50;
const SMALLEST_SPAN = 1e-6; // of the values: what is nearer has closed, and rounding is not worth a picture

export class ValuesChart {
  constructor(card) {
    this.card = card;
    this.root = set(card.querySelector(".chart"), { viewBox: `0 0 ${WIDTH} ${HEIGHT}` });
    this.caption = card.querySelector(".caption");
  }

  /** Rounds are [{primal, dual}, ...]; `current` marks one of them. */
  show(rounds, current = null, fresh = true) {
    this.card.classList.toggle("stale", !fresh);
    const known = rounds.filter(({ primal, dual }) => primal !== null && dual !== null);
    this.card.hidden = known.length === 0;
    if (known.length === 0) return;
    const height = heights(known.flatMap(({ primal, dual }) => [primal, dual]));
    const room = WIDTH - ROOM.left - ROOM.right;
    const across = (i) => ROOM.left + room * (known.length > 1 ? i / (known.length - 1) : 1);
    const [primal, dual] = ["primal", "dual"].map((name) => known.map((round, i) => [across(i), height(round[name])]));
    const last = known.at(-1);
    this.root.replaceChildren(
      svg("polygon", { class: "gap", points: coordinates([...primal, ...dual.toReversed()]) }),
      svg("polyline", { class: "primal", points: coordinates(primal) }),
      svg("polyline", { class: "dual", points: coordinates(dual) }),
      ...this.ends(primal.at(-1), dual.at(-1)),
    );
    if (current !== null && known[current]) {
      const x = across(current);
      this.root.append(svg("line", { class: "now", x1: x, x2: x, y1: 0, y2: HEIGHT }));
    }
    const noun = known.length === 1 ? "round" : "rounds";
    const values = `Primal ${short(last.primal, 6)} and dual ${short(last.dual, 6)}`;
    set(this.root, { "aria-label": `${values} after ${known.length} ${noun}.` });
    const gap = short(Math.abs(last.primal - last.dual), 2);
    this.caption.textContent = `${known.length} ${noun}; ${gap} lies between them at the end.`;
  }

  /** A dot and a word at the end of each line, kept apart where the lines have closed. */
  ends([x, primal], [, dual]) {
    const middle = (primal + dual) / 2;
    const apart = Math.max(Math.abs(primal - dual), 15) / 2;
    const sign = primal <= dual ? -1 : 1;
    const end = (name, y, textY) => [
      svg("circle", { class: name, cx: x, cy: y, r: 2.5 }),
      svg("text", { class: name, x: x + 7, y: textY + 4 }, name),
    ];
    return [...end("primal", primal, middle + sign * apart), ...end("dual", dual, middle - sign * apart)];
  }
}

function heights(values) {
  const positive = values.every((value) => value > 0);
  const logarithmic = positive && Math.max(...values) > LARGEST_RATIO * Math.min(...values);
  const raise = logarithmic ? Math.log : (value) => value;
  const low = raise(Math.min(...values)), high = raise(Math.max(...values));
  const room = HEIGHT - ROOM.top - ROOM.bottom;
  const span = Math.max(high - low, SMALLEST_SPAN * Math.max(Math.abs(high), Math.abs(low))) || 1;
  const middle = (low + high) / 2;
  return (value) => ROOM.top + room * (0.5 - (raise(value) - middle) / span);
}
