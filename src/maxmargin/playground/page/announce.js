// Two voices: what has just happened, for those who listen, and what everybody must know, above the picture.

import { html } from "./svg.js";

const polite = document.getElementById("announcement");
const board = document.getElementById("notice");
const notices = new Map(); // who speaks -> {sentence, element}

/** Say it to a screen reader, once it has finished what it is saying. */
export function announce(sentence) {
  polite.textContent = sentence;
}

/**
 * Show a sentence above the picture until it is taken back; null takes it back. Each `speaker` has one notice, and
 * takes back no other's. `more` are elements under the sentence; `onClose` puts a button beside it.
 */
export function showNotice(speaker, sentence, { more = [], onClose = null } = {}) {
  const shown = notices.get(speaker);
  if ((shown?.sentence ?? null) === (sentence || null)) return;
  shown?.element.remove();
  notices.delete(speaker);
  if (sentence) {
    const element = html("div", { class: "notice", "data-speaker": speaker }, html("p", {}, sentence));
    if (onClose) {
      const button = html("button", { type: "button", class: "plain", "aria-label": "Close this notice" }, "×");
      button.addEventListener("click", () => {
        showNotice(speaker, null);
        onClose();
      });
      element.append(button);
    }
    element.append(...more);
    notices.set(speaker, { sentence, element });
    board.append(element);
  }
  board.hidden = notices.size === 0;
}
