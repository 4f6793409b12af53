// Two voices: what has just happened, for those who listen, and what went wrong, for everybody.

const polite = document.getElementById("announcement");
const notice = document.getElementById("notice");

/** Say it to a screen reader, once it has finished what it is saying. */
export function announce(sentence) {
  polite.textContent = sentence;
}

/** Show a sentence above the picture until it is taken back; null takes it back. */
export function showNotice(sentence) {
  notice.textContent = sentence ?? "";
  notice.hidden = !sentence;
}
