// The reader's own table: a file that is opened or dropped, or a text that is pasted; and which columns are seen.
//
// The table is loaded at once, as the server reads it. A button beside the sentence about it opens a choice of columns,
// of the label and of scales, which shows in the picture what is chosen.

import { showNotice } from "./announce.js";
import { viewOf } from "./scale.js";
import { html } from "./svg.js";

const ENVELOPE = 4000; // bytes of a message around the text of a table
const SCALES = { none: "as they are", standard: "to mean 0 and deviation 1", range: "to lie between 0 and 1" };
const byId = (id) => document.getElementById(id);

export class Table {
  /** `load(points, sentence, view, about)` takes the points of a table. */
  constructor({ store, connection, catalogue }, load) {
    Object.assign(this, { store, connection, limits: catalogue.limits, load, name: "", text: null, told: null });
    this.dialog = byId("table-dialog");
    this.fields = ["across", "up", "label", "scale"].map((name) => [name, byId(`table-${name}`)]);
    for (const [value, words] of Object.entries(SCALES)) byId("table-scale").append(html("option", { value }, words));
    for (const [, select] of this.fields) select.addEventListener("change", () => this.ask(this.choice));
    byId("open").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", (event) => this.open(event.target));
    document.addEventListener("paste", (event) => this.paste(event));
    document.addEventListener("dragover", (event) => this.over(event));
    document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
    document.addEventListener("drop", (event) => this.drop(event));
  }

  get choice() {
    return Object.fromEntries(this.fields.map(([name, select]) => [name, select.value]));
  }

  open(input) {
    const [file] = input.files;
    input.value = ""; // the same file can be chosen again after it was edited
    if (file) this.readFile(file);
  }

  over(event) {
    if (!["Files", "text/plain"].some((kind) => event.dataTransfer.types.includes(kind))) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  }

  drop(event) {
    document.body.classList.remove("dropping");
    const [file] = event.dataTransfer.files;
    const text = event.dataTransfer.getData("text/plain");
    if (!file && !text) return;
    event.preventDefault();
    if (file) this.readFile(file);
    else this.read("The dropped text", text);
  }

  /** A text of several lines that is pasted beside all fields is a table. */
  paste(event) {
    if (event.target.closest?.("input, textarea, select, dialog")) return;
    const text = event.clipboardData.getData("text/plain");
    if (text.trim().split(/\r\n|\r|\n/).length < 2) return;
    event.preventDefault();
    this.read("The pasted table", text);
  }

  async readFile(file) {
    if (file.size <= this.limits.bytes) this.read(file.name, await file.text());
    else this.tooLarge(file.name);
  }

  tooLarge(name) {
    this.complain(`${name} is too large for a playground of ${this.limits.points} points.`);
  }

  read(name, text) {
    const size = new TextEncoder().encode(JSON.stringify(text)).length;
    if (size > this.limits.bytes - ENVELOPE) return void this.tooLarge(name);
    this.complain(this.connection.stands ? null : `${name} will be read when the server answers.`);
    this.ask(null, name, text);
  }

  ask(choice, name = this.name, text = this.text) {
    this.connection.ask("a", "read_csv", { text, given: choice }, (told, error) => {
      if (!this.dialog.open) this.complain(error && `${name} was not loaded: ${error.sentence}`);
      else if (error) byId("table-words").textContent = error.sentence;
      if (error) return;
      Object.assign(this, { name, text, told });
      this.load(told.points, told.words, viewOf(told.points), `${name}: ${told.words}`);
      if (this.dialog.open) this.fill();
    });
  }

  /** What is wrong with a table; what was left out of one that was loaded belongs to its points. */
  complain(sentence) {
    showNotice("trouble", sentence, { onClose: () => {} });
  }

  /** The sentence about the table, and the way to its columns as long as the table is at hand. */
  update({ about }) {
    const known = this.told !== null && about === `${this.name}: ${this.told.words}`;
    const button = html("button", { type: "button", class: "choose-columns" }, "Choose columns");
    button.addEventListener("click", () => this.choose());
    showNotice("file", about, { more: known ? [button] : [], onClose: () => this.store.change({ about: null }) });
  }

  choose() {
    this.fill();
    this.dialog.showModal();
  }

  /** The label is no coordinate: another column must be the label first. */
  fill() {
    const { columns, numbers, chosen, words } = this.told;
    const offered = { across: numbers, up: numbers, label: columns };
    for (const [name, select] of this.fields) {
      if (offered[name]) select.replaceChildren(...offered[name].map((each) => html("option", { value: each }, each)));
      select.value = chosen[name];
    }
    byId("table-words").textContent = words;
  }
}
