// Exercises that are graded by proof: a question, points, the reader's own numbers, and what they prove.
//
// The grade belongs to the numbers as they were sent; when one of them is changed, it is taken away.

import { announce } from "./announce.js";
import { typeset } from "./format.js";
import { viewOf } from "./scale.js";
import { html, set } from "./svg.js";

const byId = (id) => document.getElementById(id);

export class Exercises {
  constructor(store, connection, exercises, panels) {
    Object.assign(this, { store, connection, panels, told: null, select: byId("exercises") });
    this.select.append(html("option", { value: "" }, "Exercises …"));
    for (const { number, name, title } of exercises) {
      this.select.append(html("option", { value: name }, `${number}. ${title}`));
    }
    this.select.addEventListener("change", () => this.open(this.select.value || null));
    byId("exercise-close").addEventListener("click", () => {
      this.open(null);
      this.select.focus();
    });
    byId("exercise-next").addEventListener("click", () => this.open(...this.following()));
    byId("exercise-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.check();
    });
    byId("exercise-form").addEventListener("input", () => this.showGrade(null));
    this.reveal = byId("exercise-reveal");
    this.reveal.addEventListener("click", () => this.conceal(this.reveal.getAttribute("aria-pressed") === "true"));
  }

  /** The algorithm knows the answer: what it draws and proves is hidden until the reader has one, or asks for it. */
  conceal(hides) {
    byId("panels").classList.toggle("concealed", hides);
    set(this.reveal, { "aria-pressed": !hides });
  }

  following() {
    const [name, seed] = this.store.state.exercise;
    return [name, seed + 1];
  }

  open(name, seed = 0) {
    this.store.remember();
    this.store.change({ exercise: name && [name, seed], multiplier: null });
  }

  update({ exercise }, before) {
    byId("exercise").hidden = exercise === null;
    this.select.value = exercise?.[0] ?? "";
    if (exercise === null) this.conceal(false);
    if (exercise === null || String(exercise) === String(before?.exercise ?? null)) return;
    this.told = null;
    this.showGrade(null);
    this.ask(null, (told) => this.fill(told, before !== null));
  }

  ask(answer, then) {
    const { exercise } = this.store.state;
    const [name, seed] = exercise;
    this.connection.ask("a", "exercise", { given: { name, seed, answer } }, (told, error) => {
      if (String(this.store.state.exercise) !== String(exercise)) return; // another one is open
      if (error) byId("exercise-grade").replaceChildren(html("p", {}, error.sentence));
      else then(told);
    });
  }

  /** The question and a field for each part of the answer; its points go into the picture, unless a link has some. */
  fill(told, takesPoints) {
    this.told = told;
    const { number, title, question, seed, fields } = told.exercise;
    byId("exercise-count").textContent = `Exercise ${number}${seed > 0 ? `, variant ${seed}` : ""}`;
    byId("exercise-title").textContent = title;
    byId("exercise-question").textContent = typeset(question);
    const data = told.given.map(([name, text]) => html("div", {}, html("dt", {}, name), html("dd", {}, typeset(text))));
    byId("exercise-data").replaceChildren(...data);
    const inputs = fields.map(({ name, words }) => {
      const id = `exercise-${name}`;
      const input = html("input", { type: "text", id, name, autocomplete: "off", spellcheck: "false" });
      return html("div", { class: "parameter" }, html("label", { for: id }, words), input);
    });
    byId("exercise-fields").replaceChildren(...inputs);
    this.reveal.hidden = told.points === null;
    this.conceal(told.points !== null);
    if (takesPoints && told.points) {
      const { points } = told;
      this.store.change({ points, view: viewOf(points), line: null, about: null });
    }
  }

  check() {
    if (this.told === null) return;
    const inputs = [...byId("exercise-fields").querySelectorAll("input")];
    const sent = Object.fromEntries(inputs.map(({ name, value }) => [name, value]));
    this.ask(sent, ({ grade }) => {
      const same = inputs.every(({ name, value }) => value === sent[name]);
      if (same) this.showGrade(grade);
    });
  }

  showGrade(grade) {
    const place = byId("exercise-grade");
    place.className = grade === null ? "" : grade.right ? "right" : "not-yet";
    if (grade === null) return void place.replaceChildren();
    const verdict = grade.right ? "Right." : "Not yet.";
    if (grade.right) this.conceal(false);
    const failures = grade.failures.map(({ condition, sentence, row }) => {
      const entry = html("li", {}, html("strong", {}, `${condition}: `), typeset(sentence));
      if (row >= 0 && this.told.points) {
        const show = html("button", { type: "button", class: "plain" }, `Show row ${row}`);
        show.addEventListener("click", () => this.panels[0].figure.focusPoint(row));
        entry.append(" ", show);
      }
      return entry;
    });
    const proven = grade.proven.map((sentence) => html("p", { class: "quiet" }, `Proven: ${typeset(sentence)}`));
    place.replaceChildren(html("p", { class: "verdict" }, verdict), html("ul", {}, ...failures), ...proven);
    announce(`${verdict} ${grade.failures.map(({ sentence }) => sentence).join(" ")}`);
  }
}
