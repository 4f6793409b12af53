// The points themselves: circles for the positive class, squares for the negative one, triangles for a third.
//
// The points are one stop of the tab key; from there the keys of hand.js lead on. A point says where it is and what the
// answer thinks of it.

import { className, short, typeset } from "./format.js";
import { noteOf } from "./note.js";
import { set, svg } from "./svg.js";

export class PointMarks {
  constructor() {
    this.layer = svg("g", { class: "points" });
    this.current = 0;
    this.wanted = null;
    this.layer.addEventListener("focusin", (event) => this.choose(Number(event.target.dataset.row)));
  }

  /** The row that has the focus, or null. */
  get focused() {
    const row = this.layer.contains(document.activeElement) ? Number(document.activeElement.dataset.row) : NaN;
    return Number.isInteger(row) ? row : null;
  }

  /** What is read after the name of the focused point. */
  describe(scene, row) {
    if (row === null || !scene.points[row]) return;
    const { figures, reason } = noteOf(scene, row);
    const said = figures.slice(1).map(([name, value]) => `${name} ${value}`);
    const sentence = [said.join(", "), typeset(reason)].filter(Boolean).join(". ");
    set(this.layer.children[row], { "aria-description": sentence });
  }

  draw({ points, answer, step, challenge, sameRows }, scale, unit) {
    const { children } = this.layer;
    while (children.length > points.length) this.layer.lastChild.remove();
    while (children.length < points.length) this.layer.append(mark(children.length));
    const support = new Set(sameRows ? (step ?? answer)?.support?.map(({ row }) => row) : []);
    const wrong = challenge ? challenge.yours : step ? step.measured : answer;
    const mistakes = new Set(sameRows ? wrong?.mistakes : []);
    this.current = Math.min(this.current, Math.max(0, points.length - 1));
    points.forEach(([x, y, label], row) => {
      const element = children[row];
      const [column, line] = scale.toPixels([x, y]);
      const side = className(label);
      if (element.dataset.side !== side) dress(element, side);
      element.classList.toggle("mistaken", mistakes.has(row));
      const traits = [support.has(row) && "support vector", mistakes.has(row) && "on the wrong side"].filter(Boolean);
      set(element, {
        transform: `translate(${column},${line}) scale(${unit})`,
        tabindex: row === this.current ? 0 : -1,
        "aria-label": [`Row ${row}`, side, `at ${short(x)}, ${short(y)}`, ...traits].join(", "),
      });
    });
    this.giveFocus();
  }

  choose(row) {
    if (!Number.isInteger(row)) return;
    this.layer.children[this.current]?.setAttribute("tabindex", "-1");
    this.current = row;
    this.layer.children[row].setAttribute("tabindex", "0");
  }

  /** Focus a point, as soon as it is there. */
  focus(row) {
    this.wanted = row;
    this.giveFocus();
  }

  giveFocus() {
    if (!this.layer.children[this.wanted]) return;
    this.layer.children[this.wanted].focus({ preventScroll: true });
    this.wanted = null;
  }
}

function mark(row) {
  return svg("g", { class: "point", "data-row": row, role: "button", "aria-roledescription": "point" });
}

function dress(element, side) {
  element.dataset.side = side;
  element.classList.remove("positive", "negative", "third");
  element.classList.add(side);
  const shapes = {
    positive: () => svg("circle", { class: "shape", r: 6 }),
    negative: () => svg("rect", { class: "shape", x: -5.5, y: -5.5, width: 11, height: 11, rx: 1.5 }),
    third: () => svg("path", { class: "shape", d: "M0,-7.5L6.8,4.8H-6.8Z" }),
  };
  element.replaceChildren(
    svg("circle", { class: "hit", r: 13 }),
    shapes[side](),
    svg("path", { class: "wrong", d: "M-2.6,-2.6l5.2,5.2m0,-5.2l-5.2,5.2" }),
  );
}
