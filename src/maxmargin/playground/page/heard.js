// What the server has said, each with the question that it answers: an answer is about one state and no other.
//
// A state is never changed in place (store.js), so that two questions are the same where their parts are.

const ABOUT = ["points", "algorithm", "parameters"]; // what a proof depends on; a picture also depends on the view

/** Whether two questions are about the same points, algorithm and parameters. */
export function isAbout(one, other) {
  return ABOUT.every((part) => one[part] === other[part]);
}

export class Heard {
  constructor() {
    this.forget();
  }

  forget() {
    this.kept = {}; // kind of ask -> {question, answer, error}
  }

  keep(kind, told) {
    this.kept[kind] = told;
  }

  of(kind) {
    return this.kept[kind] ?? null;
  }

  answer(kind) {
    return this.of(kind)?.answer ?? null;
  }

  /** Whether the last answer of this kind is about the state of this question. */
  isOf(kind, question) {
    const parts = kind === "challenge" ? ["points", "line"] : ABOUT;
    const told = this.of(kind);
    return told !== null && parts.every((part) => told.question[part] === question[part]);
  }

  /** Whether it was also drawn for the same part of the plane. */
  isSeenFrom(kind, { view }) {
    return this.of(kind)?.question.view === view;
  }

  /** Whether its rows are still those of these points: one may have moved, none came or went. */
  hasRowsOf(kind, points) {
    const old = this.of(kind)?.question.points ?? [];
    return old.length === points.length && points.filter((point, row) => point !== old[row]).length <= 1;
  }
}
