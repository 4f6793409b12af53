// The start: read the address, connect, ask what there is, and build the page from it.

import { fromFragment, toFragment } from "./address.js";
import { announce, showNotice } from "./announce.js";
import { Code } from "./code.js";
import { Connection } from "./connection.js";
import { Downloads } from "./downloads.js";
import { Edits } from "./edits.js";
import { Hand } from "./hand.js";
import { Lessons } from "./lessons.js";
import { Panel } from "./panel.js";
import { viewOf } from "./scale.js";
import { Store } from "./store.js";
import { startTheme } from "./theme.js";
import { chosenTool, Tools } from "./tools.js";

const GONE =
  "The playground's server does not answer. Your points are safe in the address of this page, " +
  "which connects again by itself.";
const STILL_GONE = `${GONE} If you have started maxmargin play anew, open the address that it printed.`;

startTheme(document.getElementById("theme"));
const token = new URLSearchParams(location.search).get("token") ?? "";
const connection = new Connection(
  token,
  (stands, attempts, reason) => showNotice(stands ? null : reason || (attempts < 3 ? GONE : STILL_GONE)),
  (busy) => document.getElementById("panels").setAttribute("aria-busy", String(busy)),
);
connection.ask("a", "catalogue", {}, (catalogue, error) => (error ? showNotice(error.sentence) : build(catalogue)));

function build(catalogue) {
  document.getElementById("version").textContent = catalogue.version;
  const store = new Store(stateOf(location.hash, catalogue));
  const edits = new Edits(store, catalogue.limits);
  const context = { store, connection, catalogue };
  const panels = [0, 1].map((index) => new Panel(index, context));
  for (const { figure } of panels) new Hand(figure, store, edits, chosenTool);
  const lessons = new Lessons(store, catalogue.lessons);
  const tools = new Tools(context);
  new Downloads(store, panels);
  new Code(store, connection);

  let frame = null;
  let drawn = null;
  const update = () => {
    frame = null;
    const before = drawn;
    drawn = store.state;
    for (const part of [...panels, lessons, tools]) part.update(store.state, before);
    keepAddress(store.state);
  };
  // A pointer may move more often than the screen is drawn.
  store.listen(() => (frame ??= requestAnimationFrame(update)));
  update();
  new MutationObserver(() => panels.forEach((panel) => panel.draw())).observe(document.documentElement, {
    attributeFilter: ["data-theme"],
  });
  addEventListener("hashchange", ({ newURL }) => {
    // The link that was followed: by now keepAddress may have written over location.hash.
    const followed = new URL(newURL).hash;
    if (followed !== toFragment(store.state)) store.change(stateOf(followed, catalogue));
  });
}

/** The state of an address's fragment, or what the catalogue begins with. */
function stateOf(fragment, catalogue) {
  const { points } = catalogue.presets.find(({ name }) => name === catalogue.start.preset);
  const start = {
    points,
    view: viewOf(points),
    panels: [{ algorithm: catalogue.start.algorithm, parameters: {}, step: null }],
    lesson: null,
    line: null,
    revealed: false,
    hidden: [],
  };
  try {
    const saved = fromFragment(fragment);
    if (saved === null) return start;
    for (const { algorithm } of saved.panels) {
      if (!catalogue.algorithms.some(({ name }) => name === algorithm)) {
        throw new Error(`the address asks for ${algorithm}, which is not an algorithm of this playground`);
      }
    }
    if (saved.lesson !== null && saved.lesson >= catalogue.lessons.length) saved.lesson = null;
    return saved;
  } catch (error) {
    showNotice(`This link cannot be read: ${error.message}. A first example is shown instead.`);
    announce("This link cannot be read.");
    return start;
  }
}

/** Browsers refuse an address that changes with every frame. */
let pending = null;
function keepAddress(state) {
  clearTimeout(pending);
  pending = setTimeout(() => history.replaceState(null, "", toFragment(state)), 200);
}
