// One panel: an algorithm with its parameters, the picture, and what is proven. Two of them make a comparison.
//
// The panel asks the server whenever something changes that the answer depends on, and draws what it last heard
// together with the points as they are now; so the points follow the hand at once, and the street a moment later. What
// was heard is kept with its question (heard.js): as long as that is not the present one, it is dimmed, and nothing is
// called proven.

import { Challenge } from "./challenge.js";
import { ValuesChart } from "./chart.js";
import { Extras } from "./extras.js";
import { Figure } from "./figure.js";
import { hasThird } from "./format.js";
import { Heard } from "./heard.js";
import { Legend } from "./legend.js";
import { defaults, Parameters } from "./parameters.js";
import { Planes } from "./planes.js";
import { Player } from "./player.js";
import { Proof } from "./proof.js";
import { Readout } from "./readout.js";
import { viewOf, zoomed } from "./scale.js";
import { html, set } from "./svg.js";

const ZOOM = 1.25;
const COMPUTING = "Computing …";
const COMPILING = "Starting. The first answer of an algorithm takes some seconds, while its loops are compiled.";
const SILENCE = "There is no answer yet: the server does not answer.";
const A_WHILE = 800; // milliseconds

export class Panel {
  /** `redraw()` has a panel that `isDue` drawn in the next frame, together with whatever else has changed by then. */
  constructor(index, { store, connection, catalogue, redraw }) {
    Object.assign(this, { index, store, connection, catalogue, redraw, name: "ab"[index], isDue: false });
    this.root = document.getElementById("panel").content.firstElementChild.cloneNode(true);
    const part = (name) => this.root.querySelector(`.${name}`);
    set(this.root, { "aria-label": `Panel ${this.name.toUpperCase()}`, "data-panel": this.name });
    document.getElementById("panels").append(this.root);
    this.figure = new Figure(part("figure"), () => {
      this.ask();
      this.drawSoon();
    });
    this.readout = new Readout(part("readout"));
    this.legend = new Legend(part("legend"), store);
    this.parameters = new Parameters(part("parameters"), (name, value) => this.setParameter(name, value));
    this.proof = new Proof(this.root);
    this.chart = new ValuesChart(part("values"));
    this.player = new Player(part("player"), (step) => this.setOwn({ step }));
    this.challenge = new Challenge(part("challenge-card"), store, this.figure);
    this.extras = new Extras(this);
    this.planes = new Planes(part("method"), (plane) => this.setOwn({ plane }));
    this.heard = new Heard();
    this.waiting = COMPUTING;
    this.fillAlgorithms(part("choice"));
    part("zoom-in").addEventListener("click", () => this.zoom(1 / ZOOM));
    part("zoom-out").addEventListener("click", () => this.zoom(ZOOM));
    part("fit").addEventListener("click", () => store.change({ view: viewOf(store.state.points) }));
    this.stepButton = part("step-through");
    this.stepButton.addEventListener("click", () => this.setOwn({ step: this.own.step === null ? 0 : null }));
  }

  get own() {
    return this.store.state.panels[this.index];
  }

  get algorithm() {
    return this.catalogue.algorithms.find(({ name }) => name === this.own.algorithm);
  }

  fillAlgorithms(choice) {
    this.select = choice.querySelector("select");
    this.select.id = `${this.name}-algorithm`;
    set(choice.querySelector("label"), { for: this.select.id });
    for (const { name, title } of this.catalogue.algorithms) this.select.append(html("option", { value: name }, title));
    this.select.addEventListener("change", () => {
      this.store.remember();
      this.setOwn({ algorithm: this.select.value, parameters: {}, step: this.own.step === null ? null : 0 });
    });
  }

  setOwn(fields) {
    const panels = [...this.store.state.panels];
    panels[this.index] = { ...this.own, ...fields };
    this.store.change({ panels });
  }

  /** Only what differs from the default is kept: the address stays short. */
  setParameter(name, value) {
    this.store.remember(`${this.name}.${name}`);
    const parameters = { ...this.own.parameters, [name]: value };
    if (value === defaults(this.algorithm)[name]) delete parameters[name];
    this.setOwn({ parameters });
  }

  zoom(factor) {
    this.store.change({ view: zoomed(this.store.state.view, factor) });
  }

  drawSoon() {
    this.isDue = true;
    this.redraw();
  }

  /** Follow the store: ask anew if the answer depends on what has changed; whoever called draws. */
  update(state, before) {
    this.root.hidden = this.own === undefined;
    if (this.own === undefined) return;
    const own = this.own;
    const old = before?.panels[this.index];
    this.select.value = own.algorithm;
    this.root.querySelector(".sentence").textContent = this.algorithm.sentence;
    this.parameters.show(this.name, this.algorithm, own.parameters, hasThird(state.points));
    this.root.classList.toggle("challenging", state.line !== null);
    if (own.algorithm !== old?.algorithm) this.forget();
    const question = this.question;
    if (!old || Object.entries(this.asked ?? {}).some(([name, part]) => part !== question[name])) this.ask();
    this.isDue = true;
  }

  /** All that an answer depends on. */
  get question() {
    const { points, view, line } = this.store.state;
    const { algorithm, parameters, step } = this.own;
    return { points, algorithm, parameters, view, line, stepping: line === null && step !== null };
  }

  /** What is known of another algorithm says nothing about this one. */
  forget() {
    this.heard.forget();
    this.waiting = COMPUTING;
    clearTimeout(this.patience);
    this.patience = setTimeout(() => {
      this.waiting = COMPILING;
      this.drawSoon();
    }, A_WHILE);
  }

  ask() {
    if (this.own === undefined) return;
    const question = (this.asked = this.question);
    const { points, algorithm, parameters, view, line, stepping } = question;
    this.figure.view = view;
    this.figure.measure();
    this.figure.rescale();
    const message = { state: { points, algorithm, parameters }, view: this.figure.scale.box };
    const send = (kind, fields) =>
      this.connection.ask(this.name, kind, fields, (answer, error) => {
        if (this.own?.algorithm !== algorithm) return; // it comes too late
        if (kind !== "steps") clearTimeout(this.patience);
        this.heard.keep(kind, { question, answer, error });
        this.drawSoon();
      });
    if (line !== null) send("challenge", { ...message, line: { points: line } });
    else send("answer", message);
    if (stepping) send("steps", message);
  }

  /** Whether what is shown belongs to what is asked now, picture and all. */
  get isFresh() {
    const kind = this.question.line !== null ? "challenge" : this.question.stepping ? "steps" : "answer";
    return this.heard.isOf(kind, this.question) && this.heard.isSeenFrom(kind, this.question);
  }

  draw() {
    this.isDue = false;
    if (this.own === undefined) return;
    const { points, view, line, hidden, revealed } = this.store.state;
    const { question, heard } = this;
    const { stepping } = question;
    const kind = line !== null ? "challenge" : stepping ? "steps" : "answer";
    const kinds = ["answer", "steps", "challenge"];
    const fresh = Object.fromEntries(kinds.map((each) => [each, heard.isOf(each, question)]));
    const mark = this.connection.stands ? "checking …" : "not checked: the server does not answer";
    const run = stepping ? heard.answer("steps") : null;
    this.player.show(stepping, run, this.own.step ?? 0, fresh.steps || run === null ? "" : mark);
    const step = stepping ? this.player.step : null;
    this.challenge.show(line !== null, revealed, heard.of("challenge"), fresh.challenge, mark);
    const whole = this.planes.of(heard.of("answer"), this.own.plane ?? null);
    const answer = line === null ? (whole?.answer ?? null) : null;
    const waiting = this.connection.stands ? this.waiting : SILENCE;
    const told = { heard: whole, fresh: fresh.answer && (!step || fresh.steps), mark, waiting, step };
    this.proof.show(told);
    this.extras.show(question, fresh.answer ? answer : null);
    const { rounds, belongs } = this.rounds(run, answer, fresh);
    this.chart.show(rounds, stepping ? this.own.step : null, belongs);
    this.stepButton.textContent = `Step through the ${this.algorithm.steps}`;
    set(this.stepButton, { "aria-pressed": stepping });
    this.stepButton.hidden = line !== null;
    set(this.figure.root, { "aria-label": `Picture ${this.name.toUpperCase()}: ${points.length} points`, tabindex: 0 });
    const sameRows = heard.hasRowsOf(kind, points);
    const challenge = line === null ? null : heard.answer("challenge");
    const isKnown = fresh[kind] && heard.answer(kind) !== null && (kind !== "steps" || step !== null);
    const scene = { points, view, line, step, hidden: new Set(hidden), revealed, sameRows, isFresh: this.isFresh };
    this.legend.show(scene, answer);
    this.readout.show({ answer, step, isKnown: isKnown && (stepping || fresh.answer) });
    this.figure.draw({ ...scene, answer, challenge, isKnown, isAsked: !fresh[kind], pace: this.player.pace });
  }

  /** The values to chart, and whether they belong to the present question. */
  rounds(run, answer, fresh) {
    if (run) return { rounds: run.steps, belongs: fresh.steps };
    return { rounds: answer?.rounds ?? [], belongs: fresh.answer };
  }
}
