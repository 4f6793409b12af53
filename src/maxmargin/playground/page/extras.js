// What is computed when the reader asks for it: cards that are opened, and the proof once more in exact arithmetic.
//
// An open card asks the server when the hand rests, and keeps the answer with its question (heard.js): of another state
// it is dimmed. A verification is shown only while it is about the state as it is.

import { announce } from "./announce.js";
import { drawLoss, drawPath } from "./curves.js";
import { typeset } from "./format.js";
import { Heard, isAbout } from "./heard.js";
import { drawGame, drawTwoMargins } from "./margins.js";
import { drawProbability } from "./probability.js";
import { html, set } from "./svg.js";
import { drawHulls, drawWeights } from "./weights.js";

const REST = 200; // milliseconds without a change
const CARDS = [
  { name: "weights", title: "Dual variables", draw: drawWeights },
  { name: "hulls", title: "The hulls", draw: drawHulls },
  { name: "loss", title: "What a row costs", ask: true, draw: drawLoss },
  { name: "path", title: "The path over C", ask: true, draw: drawPath },
  { name: "two_margins", title: "Two margins", ask: true, draw: drawTwoMargins },
  { name: "game", title: "The game", ask: true, of: "winnow", draw: drawGame },
  { name: "probability", title: "Probabilities, estimated", ask: true, seen: true, draw: drawProbability },
];

/** The cards that a link may open. */
export const CARD_NAMES = CARDS.map(({ name }) => name);

export class Extras {
  constructor(panel) {
    Object.assign(this, { panel, store: panel.store, heard: new Heard(), drawn: new Map(), timers: new Map() });
    this.exact = this.makeExact();
    panel.root.querySelector(".proof").after(this.exact.card);
    this.cards = CARDS.map((card) => ({ ...card, ...this.makeCard(card) }));
    panel.root.querySelector(".side").append(...this.cards.map(({ element }) => element));
  }

  makeExact() {
    const button = html("button", { type: "button", class: "verify" }, "Verify exactly");
    const words = html("p", { class: "verification", role: "status" });
    const card = html("section", { class: "card exact", "aria-label": "Exact verification" }, button, words);
    button.addEventListener("click", () => this.verify());
    return { card, button, words };
  }

  makeCard({ name, title }) {
    const body = html("div", { class: "extra-body" });
    const mark = html("span", { class: "mark quiet" });
    const summary = html("summary", {}, title, " ", mark);
    const element = html("details", { class: "card extra", "data-extra": name }, summary, body);
    element.addEventListener("toggle", () => {
      const { open } = this.store.state;
      if (element.open === open.includes(name)) return;
      this.store.change({ open: element.open ? [...open, name] : open.filter((each) => each !== name) });
    });
    return { element, body, mark };
  }

  /** `answer` is what is known of exactly this question, or null while that is on its way. */
  show(question, answer) {
    const { open } = this.store.state;
    const away = question.line !== null || question.stepping;
    this.showVerification(question, away);
    for (const card of this.cards) {
      const hidden = away || (card.of !== undefined && card.of !== question.algorithm);
      card.element.hidden = hidden;
      card.element.open = open.includes(card.name);
      if (hidden || !card.element.open) continue;
      if (card.ask) this.showAsked(card, question);
      else this.fill(card, answer, answer !== null, question.points);
    }
  }

  showAsked(card, question) {
    const told = this.heard.of(card.name);
    const fresh = this.heard.isOf(card.name, question) && (!card.seen || this.heard.isSeenFrom(card.name, question));
    if (!fresh) {
      clearTimeout(this.timers.get(card.name));
      this.timers.set(card.name, setTimeout(() => this.ask(card.name, question), REST));
    }
    this.fill(card, told?.error ?? told?.answer ?? null, fresh, question.points);
  }

  fill(card, content, fresh, points) {
    card.element.classList.toggle("stale", !fresh);
    set(card.element, { "aria-busy": !fresh });
    card.mark.textContent = fresh ? "" : "checking …";
    if (content === null || this.drawn.get(card.name) === content) return;
    this.drawn.set(card.name, content);
    const parts = content.sentence ? [html("p", {}, typeset(content.sentence))] : card.draw(content, points);
    card.body.replaceChildren(...parts);
  }

  ask(kind, question) {
    const { points, algorithm, parameters } = question;
    const message = { state: { points, algorithm, parameters }, view: this.panel.figure.scale.box };
    this.panel.connection.ask(this.panel.name, kind, message, (answer, error) => {
      this.heard.keep(kind, { question, answer, error });
      this.panel.drawSoon();
    });
  }

  verify() {
    this.exact.button.disabled = true;
    this.exact.words.textContent = "Checking in exact arithmetic …";
    this.verifying = this.panel.question;
    this.ask("verify", this.verifying);
  }

  showVerification(question, away) {
    const { card, button, words } = this.exact;
    card.hidden = away;
    const fresh = this.heard.isOf("verify", question);
    if (!fresh && this.verifying && isAbout(this.verifying, question)) return; // it is on its way
    button.disabled = false;
    const { answer, error } = (fresh && this.heard.of("verify")) || {};
    const said = answer ? answer.words.join(" ") : (error?.sentence ?? "");
    card.classList.toggle("verified", Boolean(answer?.holds && answer.exact));
    card.classList.toggle("refused", answer?.holds === false);
    if (words.textContent === typeset(said)) return;
    words.textContent = typeset(said);
    if (said) announce(said);
  }
}
