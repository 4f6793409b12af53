// The state of the page in one object, who is told of its changes, and the way back.
//
//   points     [[x, y, label], ...], label 1 or -1
//   view       [x, y, reach], see scale.js
//   panels     [{algorithm, parameters, step}], one or, to compare, two; the step that is shown, or null for the end
//   lesson     the number of the open lesson, from 0, or null
//   line       [[x, y], [x, y]], the reader's own line, or null outside the challenge
//   revealed   whether the challenge shows the proven best
//   hidden     the parts of the picture that are switched off in the legend
//   open       the cards that are open, see extras.js
//   exercise   [name, seed] of the open exercise, or null
//   multiplier [c, x, a] of the one variable, or null where it is closed
//   about      a sentence about the file that the points came from, or null; it is not in the address

const LONGEST_PAST = 200;
const ONE_GESTURE = 1000; // milliseconds: a slider that goes on moving is one change

export class Store {
  constructor(initial) {
    this.state = initial;
    this.listeners = [];
    this.past = [];
    this.future = [];
    this.gesture = { name: null, at: 0 };
  }

  /** Listeners get the new state and the one before. */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** Replace some fields. Nothing is changed in place, so that the state before can be compared and kept. */
  change(fields) {
    const before = this.state;
    this.state = { ...before, ...fields };
    for (const listener of this.listeners) listener(this.state, before);
  }

  /**
   * Remember the state as it is, before a change that the reader may want to take back. Changes with the name of one
   * gesture that follow each other at once are taken back together.
   */
  remember(gesture = null) {
    const now = performance.now();
    const goesOn = gesture !== null && gesture === this.gesture.name && now - this.gesture.at < ONE_GESTURE;
    this.gesture = { name: gesture, at: now };
    if (goesOn) return;
    this.past.push(this.state);
    if (this.past.length > LONGEST_PAST) this.past.shift();
    this.future = [];
  }

  undo() {
    return this.travel(this.past, this.future);
  }

  redo() {
    return this.travel(this.future, this.past);
  }

  travel(from, to) {
    if (from.length === 0) return false;
    this.gesture = { name: null, at: 0 };
    to.push(this.state);
    this.change(from.pop());
    return true;
  }
}
