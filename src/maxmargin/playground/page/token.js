// The token of the server, without which it answers nobody, and the name of this browser's seat.
//
// It comes with the address that `maxmargin play` prints. It is kept in this browser, for pages of this server alone,
// and taken out of the address: so a link holds points and parameters only, can be sent, and goes on working after the
// server was started anew, as soon as its new address was opened once. The name of the seat is made up here, and kept
// as well: pages of one browser share a seat, and a page that comes back finds its own.

const KEY = "maxmargin-token";
const SEAT = "maxmargin-seat";
const SEAT_SHAPE = /^[\w-]{16,64}$/;
const SHAPE = /^[\w-]{1,200}$/; // what a server can have given; a browser throws at other subprotocols
const HERE = ["127.0.0.1", "localhost"];

export class Tokens {
  constructor() {
    this.given = tokenIn(location.search);
    this.refused = new Set();
    const seat = read(SEAT);
    this.seat = seat !== null && SEAT_SHAPE.test(seat) ? seat : newName();
    write(SEAT, this.seat);
  }

  /** The one to try next: first what this page was given, then what another page has kept; null where there is none. */
  get next() {
    const known = [this.given, read(KEY)].filter((token) => token !== null && SHAPE.test(token));
    return known.find((token) => !this.refused.has(token)) ?? known.at(-1) ?? null;
  }

  get hasAnother() {
    return this.next !== null && !this.refused.has(this.next);
  }

  refuse(token) {
    this.refused.add(token);
  }

  accept(token) {
    this.refused.delete(token);
    if (write(KEY, token)) history.replaceState(null, "", location.pathname + location.hash);
  }

  /** `changed()` is called when another page has kept a newer one. */
  listen(changed) {
    addEventListener("storage", ({ key }) => key === KEY && changed());
  }

  /**
   * Take what was pasted: an address that the server printed, or its token. True if there is something to try here;
   * an address of another port of the same machine is opened instead, with the points of this page.
   */
  paste(text) {
    const address = addressIn(text.trim());
    const token = address ? tokenIn(address.search) : text.trim();
    if (token === null || !SHAPE.test(token)) return false;
    if (address && [...HERE, location.hostname].includes(address.hostname) && address.origin !== location.origin) {
      location.assign(`${address.origin}/${address.search}${location.hash}`);
      return true;
    }
    this.refused.delete(token);
    this.given = token;
    return true;
  }
}

function addressIn(text) {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function tokenIn(query) {
  return new URLSearchParams(query).get("token");
}

function newName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is for encrypted pages only
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A browser may forbid storage; the token then stays in the address.
function read(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key, value) {
  try {
    localStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}
