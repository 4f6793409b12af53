// The Python program and the command line that reproduce what is seen, to be read and copied.

import { announce } from "./announce.js";
import { html } from "./svg.js";

export class Code {
  constructor(store, connection) {
    Object.assign(this, { store, connection });
    this.dialog = document.getElementById("code-dialog");
    this.parts = document.getElementById("code-parts");
    document.getElementById("code").addEventListener("click", () => this.open());
  }

  open() {
    const { points, panels } = this.store.state;
    this.parts.replaceChildren();
    panels.forEach(({ algorithm, parameters }, i) => {
      const wait = this.connection.stands ? "It is being written …" : "It comes when the server answers.";
      const part = this.parts.appendChild(html("div", {}, html("p", { class: "quiet" }, wait)));
      this.connection.ask("ab"[i], "code", { state: { points, algorithm, parameters } }, (answer, error) => {
        part.replaceChildren();
        if (error) part.append(html("p", {}, error.sentence));
        else {
          part.append(listing("Python", answer.python));
          part.append(listing("Command line", answer.command, `beside ${answer.file}`));
          for (const { title, text } of answer.programs) part.append(listing(title, text, "the textbook's program"));
          if (i === 0) part.append(listing(answer.file, answer.csv));
        }
      });
    });
    this.dialog.showModal();
  }
}

function listing(title, text, note = "") {
  const button = html("button", { type: "button", "aria-label": `Copy: ${title}` }, "Copy");
  button.addEventListener("click", async () => {
    const said = await copied(text, body);
    button.textContent = said ? "Copied" : "Select and copy by hand";
    announce(button.textContent);
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  const beside = html("span", { class: "quiet" }, note);
  const head = html("div", { class: "listing-head" }, html("h3", {}, title), beside, button);
  const body = html("pre", { tabindex: 0, "aria-label": title }, html("code", {}, text));
  return html("section", { class: "listing" }, head, body);
}

// The clipboard is for encrypted pages and for this machine; a class has the older way, which copies what is selected.
async function copied(text, body) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(body);
    return document.execCommand("copy"); // the browser may forbid it; then it is selected at least
  }
}
