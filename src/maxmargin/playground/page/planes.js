// Which of the planes of more than two classes is seen: all of them with their regions, or one as two classes are.

import { html, set } from "./svg.js";

export class Planes {
  /** `onChoice(index)` is told which plane the reader wants to see; null for all. */
  constructor(before, onChoice) {
    this.select = html("select", { "aria-label": "Plane" });
    this.root = html("section", { class: "card planes", "aria-label": "Planes", hidden: "" }, this.select);
    this.select.addEventListener("change", () => onChoice(this.select.value === "" ? null : Number(this.select.value)));
    before.after(this.root);
    this.seen = { told: null, plane: null, shown: null };
  }

  /** What was heard, with the answer of the chosen plane in the place of that of all. */
  of(told, plane) {
    const planes = told?.answer?.planes ?? null;
    set(this.root, { hidden: planes === null || planes.length === 0 ? "" : null });
    if (planes === null || planes.length === 0) return told;
    if (this.seen.told === told && this.seen.plane === plane) return this.seen.shown;
    const titles = planes.map(({ title, certificate: { proven } }) => `${title} ${proven ? "✓" : ""}`);
    const options = titles.map((title, i) => html("option", { value: i }, title));
    this.select.replaceChildren(html("option", { value: "" }, `All ${planes.length} planes`), ...options);
    const index = planes[plane] ? plane : null;
    this.select.value = index ?? "";
    const shown = index === null ? told : { ...told, answer: { ...planes[index], field: told.answer.field } };
    this.seen = { told, plane, shown };
    return shown;
  }
}
