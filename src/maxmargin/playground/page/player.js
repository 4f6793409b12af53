// Step, play and scrub through a run, with the reason for each step: the rule by its name, and the arithmetic.

import { announce } from "./announce.js";
import { typeset } from "./format.js";
import { html, set } from "./svg.js";

const BEAT = 700; // milliseconds for a step of a short run
const LONGEST_SHOW = 30000; // a long run is played faster, to end within this time
const EASE = 260; // milliseconds in which the line goes to its new place; while playing, at most half of a beat
const BY_KEY = { ArrowLeft: -1, ArrowRight: 1, ",": -1, ".": 1, Home: -Infinity, End: Infinity };

export class Player {
  /** `onStep(number)` is told which step the reader wants to see, counted from 0. */
  constructor(root, onStep) {
    this.root = root;
    this.panel = root.closest(".panel");
    this.onStep = onStep;
    this.run = null;
    this.at = 0;
    this.timer = null;
    this.isTold = true;
    this.part = (name) => root.querySelector(`.${name}`);
    this.part("first").addEventListener("click", () => this.go(0));
    this.part("back").addEventListener("click", () => this.go(this.at - 1));
    this.part("forward").addEventListener("click", () => this.go(this.at + 1));
    this.part("last").addEventListener("click", () => this.go(Infinity));
    this.part("play").addEventListener("click", () => this.toggle());
    this.part("scrub").addEventListener("input", (event) => this.go(Number(event.target.value)));
  }

  get count() {
    return this.run?.steps.length ?? 0;
  }

  /** Show step `at` of a run, or that it is awaited; close where nobody wants one. `mark`: it is of another state. */
  show(open, run, at, mark) {
    this.root.hidden = !open;
    this.root.classList.toggle("empty", run === null);
    this.root.classList.toggle("stale", mark !== "");
    this.part("mark").textContent = mark;
    this.run = run;
    if (run === null) {
      this.part("position").textContent = "";
      return this.pause();
    }
    this.at = Math.max(0, Math.min(at, this.count - 1));
    const step = run.steps[this.at];
    const noun = run.kind === "updates" ? "Update" : "Round";
    const [number, total] = [step?.number ?? 0, run.total].map((count) => count.toLocaleString("en"));
    const position = step ? `${noun} ${number} of ${total}` : "No steps";
    this.part("position").textContent = position;
    set(this.part("scrub"), { max: Math.max(0, this.count - 1), "aria-valuetext": position });
    this.part("scrub").value = this.at;
    this.part("rule").textContent = typeset(step?.rule ?? run.words ?? "");
    const lines = [...(step?.arithmetic ?? [])].map((line) => html("li", {}, typeset(line)));
    if (step && run.words) lines.push(html("li", { class: "quiet" }, run.words));
    this.part("arithmetic").replaceChildren(...lines);
    this.part("first").disabled = this.part("back").disabled = this.at <= 0;
    this.part("last").disabled = this.part("forward").disabled = this.at >= this.count - 1;
    this.part("play").disabled = this.count < 2;
    if (!this.isTold) announce(`${position}. ${this.part("rule").textContent}`);
    this.isTold = true;
  }

  get step() {
    return this.run?.steps[this.at] ?? null;
  }

  get beat() {
    return Math.min(BEAT, LONGEST_SHOW / this.count);
  }

  /** How long the line may take to the next step. */
  get pace() {
    return this.timer === null ? EASE : Math.min(EASE, this.beat / 2);
  }

  /**
   * Space plays and pauses, the arrows go on and back: where nothing else has the focus, or the player itself. Comma
   * and full stop do so wherever no text is typed, on a point too.
   */
  key(event) {
    const { key, target } = event;
    if (this.root.hidden || this.count === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("dialog, select, input, textarea")) return;
    const isFree = target === document.body || target.id === "panels" || this.root.contains(target);
    const isOther = target.closest(".panel") !== null && !this.panel.contains(target);
    if (key === " " && isFree && !target.closest("button")) this.toggle();
    else if (key in BY_KEY && (isFree || (",.".includes(key) && !isOther))) this.go(this.at + BY_KEY[key]);
    else return;
    event.preventDefault();
  }

  toggle() {
    if (this.timer === null) this.play();
    else this.pause();
  }

  /** To this step, and say it once it is shown. */
  go(number) {
    this.pause();
    this.isTold = false;
    this.goOn(number);
  }

  /** The next key may come before the next frame: `at` does not wait for it. */
  goOn(number) {
    this.at = Math.max(0, Math.min(number, this.count - 1));
    this.onStep(this.at);
  }

  play() {
    if (this.at >= this.count - 1) this.goOn(0);
    this.label("Pause");
    this.timer = setInterval(() => {
      if (this.at >= this.count - 1) this.pause();
      else this.goOn(this.at + 1);
    }, this.beat);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.label("Play");
  }

  label(word) {
    set(this.part("play"), { "aria-label": word }).textContent = word;
  }
}
