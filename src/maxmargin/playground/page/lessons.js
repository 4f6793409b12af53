// The lessons: each a saved state with three sentences, a question, and an answer for those who want one.

import { announce } from "./announce.js";
import { firstLine } from "./challenge.js";
import { typeset } from "./format.js";
import { FIRST } from "./multiplier.js";
import { viewOf } from "./scale.js";
import { html } from "./svg.js";

const byId = (id) => document.getElementById(id);

export class Lessons {
  constructor(store, lessons) {
    Object.assign(this, { store, lessons, shown: null, select: byId("lessons") });
    this.select.append(html("option", { value: "" }, "Lessons …"));
    lessons.forEach(({ title }, i) => this.select.append(html("option", { value: i }, `${i + 1}. ${title}`)));
    this.select.addEventListener("change", () => {
      if (this.select.value === "") this.close();
      else this.open(Number(this.select.value));
    });
    byId("lesson-back").addEventListener("click", () => this.open(store.state.lesson - 1));
    byId("lesson-next").addEventListener("click", () => this.open(store.state.lesson + 1));
    byId("lesson-reload").addEventListener("click", () => this.open(store.state.lesson));
    byId("lesson-close").addEventListener("click", () => this.close());
  }

  open(number) {
    const { state, b, mode, open, exercise } = this.lessons[number];
    const view = viewOf(state.points);
    const step = mode === "steps" ? 0 : null;
    this.store.remember();
    this.store.change({
      points: state.points,
      view,
      panels: [state, b].filter(Boolean).map(({ algorithm, parameters }) => ({ algorithm, parameters, step })),
      lesson: number,
      line: mode === "challenge" ? firstLine(view) : null,
      revealed: false,
      hidden: [],
      open,
      exercise: exercise && [exercise, 0],
      multiplier: mode === "multiplier" ? FIRST : null,
      about: null,
    });
    announce(`Lesson ${number + 1}: ${this.lessons[number].title}`);
  }

  close() {
    this.store.remember();
    this.store.change({ lesson: null });
    this.select.focus();
  }

  update({ lesson }) {
    byId("lesson").hidden = lesson === null;
    this.select.value = lesson ?? "";
    if (lesson === null || lesson === this.shown) return;
    this.shown = lesson;
    const { title, sentences, question, answer } = this.lessons[lesson];
    byId("lesson-count").textContent = `Lesson ${lesson + 1} of ${this.lessons.length}`;
    byId("lesson-title").textContent = title;
    byId("lesson-sentences").textContent = typeset(sentences.join(" "));
    byId("lesson-question").textContent = typeset(question);
    byId("lesson-answer").textContent = typeset(answer);
    byId("lesson-details").open = false;
    byId("lesson-back").disabled = lesson === 0;
    byId("lesson-next").disabled = lesson === this.lessons.length - 1;
  }
}
