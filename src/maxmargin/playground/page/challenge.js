// The reader's own line: two clicks, or two ends that are held; measured while it is drawn, and then what is proven of
// the best margin and of the least objective beside it.

import { announce } from "./announce.js";
import { percent, short, typeset } from "./format.js";
import { html, set } from "./svg.js";

const CLICKS = ["Click where the line begins.", "Click where it goes through next.", "The line is placed."];

export class Challenge {
  constructor(card, store, figure) {
    Object.assign(this, { card, store, figure, placed: null });
    this.button = card.querySelector(".reveal");
    this.button.addEventListener("click", () => store.change({ revealed: !store.state.revealed }));
    this.placing = card.querySelector(".place");
    this.placing.addEventListener("click", () => this.place(this.placed === null ? 0 : null));
    // Before the hand on the picture hears of it.
    figure.root.addEventListener("pointerdown", (event) => this.click(event), { capture: true });
    card.addEventListener("keydown", ({ key }) => key === "Escape" && this.place(null));
  }

  /** How many of the two clicks are made; null outside of them. */
  place(clicks) {
    this.placed = clicks === 2 ? null : clicks;
    set(this.placing, { "aria-pressed": this.placed !== null });
    this.placing.textContent = this.placed === null ? "Place it by two clicks" : CLICKS[this.placed];
    if (clicks !== null) announce(CLICKS[clicks]);
  }

  click(event) {
    const { line } = this.store.state;
    if (this.placed === null || line === null || event.button !== 0) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const at = this.figure.scale.toShortData(this.figure.pixel(event));
    const other = line[1 - this.placed];
    if (at[0] === other[0] && at[1] === other[1]) return; // two different points make a line
    if (this.placed === 0) this.store.remember();
    this.store.change({ line: this.placed === 0 ? [at, other] : [line[0], at] });
    this.place(this.placed + 1);
  }

  /** What was heard last about the line, and whether it is about the line and the points as they are. */
  show(open, revealed, heard, fresh, mark) {
    if (!open && this.placed !== null) this.place(null);
    this.card.hidden = !open;
    this.card.classList.toggle("stale", !fresh);
    this.card.querySelector(".mark").textContent = fresh ? "" : mark;
    const { answer = null, error = null } = heard ?? {};
    set(this.button, { "aria-pressed": revealed }).textContent = `${revealed ? "Hide" : "Show"} the proven best`;
    const terms = this.scores(answer, revealed);
    const rows = terms.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
    this.card.querySelector(".scores").replaceChildren(...rows);
    const { yours, best, objective } = answer ?? {};
    const speakers = [yours, revealed && best, revealed && objective, error && { words: [error.sentence] }];
    const said = speakers.filter(Boolean).map(({ words }) => html("p", {}, typeset(words.join(" "))));
    this.card.querySelector(".words").replaceChildren(...said);
  }

  scores(answer, revealed) {
    if (answer === null) return [];
    const { yours, best, share, objective } = answer;
    const scores = [["Your margin", short(yours.margin)]];
    if (objective) scores.push([`Your objective at C = ${short(objective.C)}`, short(objective.value)]);
    if (!revealed) return scores;
    scores.push(["Proven best margin", best.lower === null ? "no line separates" : short(best.upper)]);
    if (share !== null) scores.push(["Yours is", `${percent(share)} of it`]);
    if (objective) {
      scores.push(["Proven least objective", short(objective.lower)]);
      scores.push(["Yours is above it by", percent(objective.excess)]);
    }
    return scores;
  }
}

/** A line to begin with: level, through the middle of what is seen. */
export function firstLine([x, y, reach]) {
  const short = (value) => Number(value.toPrecision(4));
  return [[short(x - reach / 2), short(y)], [short(x + reach / 2), short(y)]];
}
