// The row of tools above the picture: what a click does, ready-made points, the reader's own file, and the way back.

import { announce } from "./announce.js";
import { firstLine } from "./challenge.js";
import { viewOf } from "./scale.js";
import { html, set } from "./svg.js";
import { Table } from "./table.js";

const byId = (id) => document.getElementById(id);

/** What a click on the picture does: "1", "-1", "relabel" or "delete". */
export function chosenTool() {
  return document.querySelector('input[name="tool"]:checked').value;
}

export class Tools {
  constructor({ store, connection, catalogue }) {
    Object.assign(this, { store, connection, catalogue });
    const on = (id, act) => byId(id).addEventListener("click", act);
    on("undo", () => announce(store.undo() ? "Taken back." : "There is nothing to take back."));
    on("redo", () => announce(store.redo() ? "Done again." : "There is nothing to do again."));
    on("clear", () => this.load([], "All points are deleted.", store.state.view));
    on("compare", () => this.compare());
    on("challenge", () => this.challenge());
    on("keys", () => byId("keys-dialog").showModal());
    this.table = new Table({ store, connection, catalogue }, (...given) => this.load(...given));
    this.fillPresets(byId("presets"));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  fillPresets(select) {
    select.append(html("option", { value: "" }, "Points …"));
    for (const { name, title, sentence } of this.catalogue.presets) {
      select.append(html("option", { value: name, title: sentence }, title));
    }
    select.addEventListener("change", () => {
      const preset = this.catalogue.presets.find(({ name }) => name === select.value);
      if (preset) this.load(preset.points, `${preset.title}. ${preset.sentence}`);
    });
  }

  /** Other points: the step and the line belong to the old ones. */
  load(points, sentence, view = viewOf(points), about = null) {
    const { store } = this;
    store.remember();
    const panels = store.state.panels.map((own) => ({ ...own, step: own.step === null ? null : 0 }));
    store.change({ points, view, panels, line: store.state.line && firstLine(view), revealed: false, about });
    announce(sentence);
  }

  compare() {
    const { panels } = this.store.state;
    this.store.remember();
    if (panels.length === 2) this.store.change({ panels: panels.slice(0, 1) });
    else this.store.change({ panels: [panels[0], this.opponent(panels[0])], line: null });
  }

  /** Something else than what is there: the next algorithm in the catalogue. */
  opponent({ algorithm, step }) {
    const { algorithms } = this.catalogue;
    const next = (algorithms.findIndex(({ name }) => name === algorithm) + 1) % algorithms.length;
    return { algorithm: algorithms[next].name, parameters: {}, step };
  }

  challenge() {
    const { line, view, panels } = this.store.state;
    this.store.remember();
    if (line !== null) this.store.change({ line: null, revealed: false });
    else this.store.change({ line: firstLine(view), revealed: false, panels: panels.slice(0, 1) });
  }

  key(event) {
    const ours = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    if (!ours || event.target.matches("input[type=number]")) return; // which takes back what was typed
    event.preventDefault();
    byId(event.shiftKey ? "redo" : "undo").click();
  }

  update(state) {
    const { panels, line, points } = state;
    this.table.update(state);
    set(byId("compare"), { "aria-pressed": panels.length === 2 });
    set(byId("challenge"), { "aria-pressed": line !== null });
    document.getElementById("panels").classList.toggle("two", panels.length === 2);
    byId("presets").value = this.catalogue.presets.find((preset) => preset.points === points)?.name ?? "";
    byId("clear").disabled = points.length === 0;
    byId("undo").disabled = this.store.past.length === 0;
    byId("redo").disabled = this.store.future.length === 0;
  }
}
