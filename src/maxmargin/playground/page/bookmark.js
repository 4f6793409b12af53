// The address of the page and its state: each follows the other.
//
// A link that cannot be read stays in the address as it is, until the reader changes something; and then it is left in
// the history of the browser, one step back, so that it can be looked at and mended.

import { fromFragment, toFragment } from "./address.js";
import { showNotice } from "./announce.js";

const PAUSE = 200; // milliseconds: browsers refuse an address that changes with every frame

export class Bookmark {
  /** `start` is the state of a page that was opened without a link. */
  constructor(catalogue, start) {
    Object.assign(this, { catalogue, start, held: null, pending: null });
  }

  /** The state to begin with. */
  first() {
    return this.read(location.hash) ?? this.start;
  }

  follow(store) {
    this.store = store;
    addEventListener("hashchange", ({ newURL }) => {
      // The link that was followed: by now `keep` may have written over location.hash.
      const followed = new URL(newURL).hash;
      if (followed === toFragment(store.state)) return;
      clearTimeout(this.pending);
      const state = this.read(followed, store.state);
      if (state === null) return;
      store.remember();
      store.change(state);
    });
  }

  /** The state in a link, or null where there is none to be read; `present` is what then stays. */
  read(fragment, present = this.start) {
    this.held = null;
    showNotice("link", null);
    try {
      const found = fromFragment(fragment, this.catalogue);
      if (found === null) return null;
      const wrong = found.complaints.join("; ");
      if (wrong) this.hold(found.state, `Not all of this link can be used: ${wrong}.`);
      return { about: null, ...found.state };
    } catch (error) {
      const instead = this.store ? "What was there stays." : "A first example is shown instead.";
      this.hold(present, `This link cannot be read: ${error.message}. ${instead}`);
      return null;
    }
  }

  hold(state, sentence) {
    this.held = toFragment(state);
    showNotice("link", sentence, { onClose: () => {} });
  }

  /** Write the state into the address, once the hand rests. */
  keep(state) {
    clearTimeout(this.pending);
    this.pending = setTimeout(() => {
      const fragment = toFragment(state);
      if (fragment === this.held) return;
      if (this.held === null) history.replaceState(null, "", fragment);
      else {
        history.pushState(null, "", fragment);
        showNotice("link", null);
      }
      this.held = null;
    }, PAUSE);
  }
}
