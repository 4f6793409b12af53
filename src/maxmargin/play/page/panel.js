// One panel: an algorithm with its parameters, the picture, and what is proven. Two of them make a comparison.
//
// The panel asks the server whenever something changes that the answer depends on, and draws what it last heard
// together with the points as they are now; so the points follow the hand at once, and the street a moment later.

import { Challenge } from "./challenge.js";
import { ValuesChart } from "./chart.js";
import { Figure } from "./figure.js";
import { Legend } from "./legend.js";
import { defaults, Parameters } from "./parameters.js";
import { Player } from "./player.js";
import { Proof } from "./proof.js";
import { viewOf } from "./scale.js";
import { html, set } from "./svg.js";

const ZOOM = 1.25;
const COMPILING = "Computing. The first answer of an algorithm takes some seconds, while its loops are compiled.";

export class Panel {
  constructor(index, { store, connection, catalogue }) {
    Object.assign(this, { index, store, connection, catalogue, name: "ab"[index] });
    this.root = document.getElementById("panel").content.firstElementChild.cloneNode(true);
    const part = (name) => this.root.querySelector(`.${name}`);
    set(this.root, { "aria-label": `Panel ${this.name.toUpperCase()}`, "data-panel": this.name });
    document.getElementById("panels").append(this.root);
    this.figure = new Figure(part("figure"), () => {
      this.ask();
      this.draw();
    });
    this.legend = new Legend(part("legend"), store);
    this.parameters = new Parameters(part("parameters"), (name, value) => this.setParameter(name, value));
    this.proof = new Proof(this.root);
    this.chart = new ValuesChart(part("values"));
    this.player = new Player(part("player"), (step) => this.setOwn({ step }));
    this.challenge = new Challenge(part("challenge-card"), store);
    this.answer = this.run = null;
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
    const parameters = { ...this.own.parameters, [name]: value };
    if (value === defaults(this.algorithm)[name]) delete parameters[name];
    this.setOwn({ parameters });
  }

  zoom(factor) {
    const [x, y, reach] = this.store.state.view;
    this.store.change({ view: [x, y, Number((reach * factor).toPrecision(4))] });
  }

  /** Follow the store: ask anew if the answer depends on what has changed, and draw. */
  update(state, before) {
    this.root.hidden = this.own === undefined;
    if (this.own === undefined) return;
    const own = this.own;
    const old = before?.panels[this.index];
    this.select.value = own.algorithm;
    this.root.querySelector(".sentence").textContent = this.algorithm.sentence;
    this.parameters.show(this.name, this.algorithm, own.parameters);
    this.root.classList.toggle("challenging", state.line !== null);
    if (own.algorithm !== old?.algorithm) this.forget();
    const wanted = asked(state, own);
    if (!old || asked(before, old).some((part, i) => part !== wanted[i])) this.ask();
    this.draw();
  }

  /** What is known of another algorithm says nothing about this one. */
  forget() {
    this.answer = this.run = null;
    this.proof.showSentence("…");
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.proof.showSentence(COMPILING), 800);
  }

  ask() {
    if (this.own === undefined) return;
    const { points, line } = this.store.state;
    this.figure.view = this.store.state.view;
    this.figure.measure();
    this.figure.rescale();
    const { algorithm, parameters } = this.own;
    const message = { state: { points, algorithm, parameters }, view: this.figure.scale.box };
    const send = (kind, fields) =>
      this.connection.ask(this.name, kind, fields, (answer, error) => {
        if (this.own?.algorithm === algorithm) this.hear(kind, answer, error); // else it comes too late
      });
    if (line !== null) send("challenge", { ...message, line: { points: line } });
    else send("answer", message);
    if (line === null && this.own.step !== null) send("steps", message);
  }

  hear(kind, answer, error) {
    if (kind !== "steps") clearTimeout(this.patience);
    if (kind === "answer") this.answer = answer;
    if (kind === "steps") this.run = answer;
    if (kind === "challenge") Object.assign(this.challenge, { answer, error });
    if (kind === "answer" && error) this.proof.showSentence(error.sentence);
    if (kind === "answer" && answer) this.proof.show(answer);
    this.draw();
  }

  draw() {
    const { points, view, line, hidden, revealed } = this.store.state;
    if (this.own === undefined) return;
    const stepping = line === null && this.own.step !== null;
    this.player.show(stepping ? this.run : null, this.own.step ?? 0);
    const step = stepping ? this.player.step : null;
    const challenge = line === null ? null : this.challenge.answer;
    this.challenge.show(line !== null, revealed);
    this.chart.show(this.rounds(stepping), stepping ? this.own.step : null);
    this.stepButton.textContent = `Step through the ${this.algorithm.steps}`;
    set(this.stepButton, { "aria-pressed": stepping });
    this.stepButton.hidden = line !== null;
    set(this.figure.root, { "aria-label": `Picture ${this.name.toUpperCase()}: ${points.length} points` });
    this.figure.root.tabIndex = points.length === 0 ? 0 : -1;
    const scene = { points, view, line, step, hidden: new Set(hidden), revealed };
    this.legend.show(scene, line === null ? this.answer : null);
    this.figure.draw({ ...scene, answer: line === null ? this.answer : null, challenge });
  }

  rounds(stepping) {
    if (this.store.state.line !== null) return [];
    return (stepping && this.run ? this.run.steps : this.answer?.rounds) ?? [];
  }
}

/** All that an answer depends on. */
function asked({ points, view, line }, { algorithm, parameters, step }) {
  return [points, view, line, algorithm, parameters, step === null];
}
