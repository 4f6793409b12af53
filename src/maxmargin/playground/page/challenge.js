// The challenge: the reader's own line, measured while it is drawn, and then the proven best margin beside it.

import { percent, short, typeset } from "./format.js";
import { html, set } from "./svg.js";

export class Challenge {
  constructor(card, store) {
    this.card = card;
    this.button = card.querySelector(".reveal");
    this.button.addEventListener("click", () => store.change({ revealed: !store.state.revealed }));
  }

  /** What was heard last about the line, and whether it is about the line and the points as they are. */
  show(open, revealed, heard, fresh, mark) {
    this.card.hidden = !open;
    this.card.classList.toggle("stale", !fresh);
    this.card.querySelector(".mark").textContent = fresh ? "" : mark;
    const { answer = null, error = null } = heard ?? {};
    set(this.button, { "aria-pressed": revealed }).textContent = `${revealed ? "Hide" : "Show"} the proven best`;
    const { yours, best, share } = answer ?? {};
    const scores = yours ? [["Your margin", short(yours.margin)]] : [];
    if (yours && revealed) {
      scores.push(["Proven best", best.lower === null ? "no line separates" : short(best.upper)]);
      if (share !== null) scores.push(["Yours is", `${percent(share)} of it`]);
    }
    const terms = scores.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
    this.card.querySelector(".scores").replaceChildren(...terms);
    const speakers = [yours, revealed && best, error && { words: [error.sentence] }];
    const said = speakers.filter(Boolean).map(({ words }) => html("p", {}, typeset(words.join(" "))));
    this.card.querySelector(".words").replaceChildren(...said);
  }
}

/** A line to begin with: level, through the middle of what is seen. */
export function firstLine([x, y, reach]) {
  const short = (value) => Number(value.toPrecision(4));
  return [[short(x - reach / 2), short(y)], [short(x + reach / 2), short(y)]];
}
