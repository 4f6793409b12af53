// The start: find the server, ask what there is, and build the page from it.

import { showNotice } from "./announce.js";
import { Bookmark } from "./bookmark.js";
import { Code } from "./code.js";
import { Connection } from "./connection.js";
import { Downloads } from "./downloads.js";
import { Edits } from "./edits.js";
import { Exercises } from "./exercises.js";
import { Hand } from "./hand.js";
import { Lessons } from "./lessons.js";
import { Multiplier } from "./multiplier.js";
import { Panel } from "./panel.js";
import { viewOf } from "./scale.js";
import { Store } from "./store.js";
import { html } from "./svg.js";
import { startTheme } from "./theme.js";
import { Tokens } from "./token.js";
import { chosenTool, Tools } from "./tools.js";

const GONE =
  "The playground's server does not answer. Your points are safe in the address of this page, " +
  "which connects again by itself.";
const STILL_GONE = `${GONE} If it was ended, start it anew: maxmargin play.`;
const NO_TOKEN =
  "This page does not have the token of the server that is running. Open the address that maxmargin play has printed " +
  "in its terminal (in a class: the teacher's link), or paste that address here; what this link holds is kept.";

startTheme(document.getElementById("theme"));
const starting = document.getElementById("starting");
const main = document.getElementById("panels");
const tokens = new Tokens();
let panels = [];
let redraw = () => {};
let isBusy = false;
const connection = new Connection(tokens, showStatus, (busy) => {
  isBusy = busy;
  // Not before the last answer is drawn: that is asked for by now, and comes first in the next frame.
  if (busy) main.setAttribute("aria-busy", "true");
  else requestAnimationFrame(() => main.setAttribute("aria-busy", String(isBusy)));
});
connection.ask("a", "catalogue", {}, (catalogue, error) => {
  if (error) showNotice("start", error.sentence);
  else build(catalogue);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment is the state, and not a place on the page
  main.focus();
});

function showStatus({ stands, why, attempts, reason }) {
  starting.hidden = !stands;
  const gone = reason || (attempts < 3 ? GONE : STILL_GONE);
  showNotice("line", stands || why === "token" ? null : gone);
  showNotice("token", why === "token" ? NO_TOKEN : null, { more: why === "token" ? [tokenForm()] : [] });
  for (const panel of panels) panel.isDue = true;
  redraw();
}

function tokenForm() {
  const field = html("input", { type: "text", "aria-label": "The address that maxmargin play printed", size: 40 });
  const form = html("form", { class: "row" }, field, html("button", {}, "Connect"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (tokens.paste(field.value)) connection.openNow();
    else field.setCustomValidity("There is no token in this text: it ends in ?token=…");
    field.reportValidity();
  });
  field.addEventListener("input", () => field.setCustomValidity(""));
  return form;
}

function build(catalogue) {
  starting.remove();
  for (const part of document.querySelectorAll("[data-built]")) part.hidden = false;
  document.getElementById("version").textContent = catalogue.version;
  const bookmark = new Bookmark(catalogue, startOf(catalogue));
  const store = new Store(bookmark.first());
  const edits = new Edits(store, catalogue.limits);
  const context = { store, connection, catalogue, redraw: () => redraw() };
  panels = [0, 1].map((index) => new Panel(index, context));
  for (const { figure } of panels) new Hand(figure, store, edits, chosenTool);
  const lessons = new Lessons(store, catalogue.lessons);
  const tools = new Tools(context);
  const exercises = new Exercises(store, connection, catalogue.exercises, panels);
  const multiplier = new Multiplier(store, connection);
  new Downloads(store, panels);
  new Code(store, connection);

  let frame = null;
  let drawn = null;
  const update = () => {
    frame = null;
    if (drawn !== store.state) {
      const before = drawn;
      drawn = store.state;
      for (const part of [...panels, lessons, tools, exercises, multiplier]) part.update(store.state, before);
      bookmark.keep(store.state);
    }
    for (const panel of panels) if (panel.isDue) panel.draw();
  };
  // A pointer may move more often than the screen is drawn, and answers come in between: one drawing for each frame.
  redraw = () => (frame ??= requestAnimationFrame(update));
  store.listen(redraw);
  update();
  bookmark.follow(store);
  document.addEventListener("keydown", (event) => panels.forEach(({ player }) => player.key(event)));
  new MutationObserver(() => panels.forEach((panel) => panel.drawSoon())).observe(document.documentElement, {
    attributeFilter: ["data-theme"],
  });
}

/** What is seen without a link. */
function startOf({ presets, start: { preset, algorithm } }) {
  const { points } = presets.find(({ name }) => name === preset);
  return {
    points,
    view: viewOf(points),
    panels: [{ algorithm, parameters: {}, step: null }],
    lesson: null,
    line: null,
    revealed: false,
    hidden: [],
    open: [],
    exercise: null,
    multiplier: null,
    about: null,
  };
}
