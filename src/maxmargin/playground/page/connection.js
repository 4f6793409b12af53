// The line to the server: one websocket, asks that are answered, and a calm return when it breaks.
//
// While a point is dragged there is a new state for every frame. One ask of a kind is on its way at a time, and the
// newest state waits for its turn. If an answer takes longer than PATIENCE the newest is sent all the same, and the
// server stops the older one. An answer repeats the number of its ask, and is given to whoever asked with that number:
// so everybody knows which state an answer belongs to.

const PATIENCE = 120; // milliseconds
const PAUSES = [500, 1000, 2000, 4000]; // before the next attempt to reconnect
const TURNED_AWAY = 300; // milliseconds after which a page that had no place before has been let in

export class Connection {
  /**
   * `onStatus` hears {stands, why, attempts, reason}: whether the line stands; if it does not, why ("gone", or "token"
   * where the server is there and refuses), how often it was tried, and the server's reason.
   * `onBusy` hears whether an answer is still to come.
   */
  constructor(tokens, onStatus, onBusy) {
    Object.assign(this, { tokens, onStatus, onBusy });
    this.stands = false;
    this.lastId = 0;
    this.underWay = new Map(); // kind of ask -> {id, sent, reply}
    this.waiting = new Map(); // kind of ask -> {message, reply}
    this.attempts = 0;
    this.timer = null;
    this.reason = ""; // why the server has closed the line
    this.socket = null;
    tokens.listen(() => this.openNow());
    this.open();
  }

  /** At once, if the line does not stand: there is a token that was not tried. */
  openNow() {
    if (this.timer !== null) this.open();
  }

  open() {
    clearTimeout(this.timer);
    this.timer = null;
    const token = this.tokens.next;
    if (token === null) return void this.isThere().then((there) => this.lost(there ? "token" : "gone"));
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}/ws`, ["maxmargin", token, this.tokens.seat]);
    let opened = false;
    let letIn = null;
    this.socket.addEventListener("open", () => {
      opened = true;
      this.tokens.accept(token);
      // A server whose seats are taken opens the line, and closes it at once with its reason.
      letIn = setTimeout(() => this.enter(), this.reason ? TURNED_AWAY : 0);
      for (const kind of [...this.waiting.keys()]) this.send(kind);
    });
    this.socket.addEventListener("message", (event) => {
      if (!this.stands) this.enter();
      this.receive(JSON.parse(event.data));
    });
    this.socket.addEventListener("close", async ({ reason }) => {
      clearTimeout(letIn);
      for (const [kind, { message, reply }] of this.underWay) {
        if (!this.waiting.has(kind)) this.waiting.set(kind, { message, reply });
      }
      this.underWay.clear();
      if (opened || !(await this.isThere())) return this.lost("gone", reason);
      this.tokens.refuse(token); // a browser does not say why a handshake failed, but the server is there
      if (this.tokens.hasAnother) this.open();
      else this.lost("token");
    });
  }

  enter() {
    this.attempts = 0;
    this.reason = "";
    this.tell({ stands: true });
  }

  lost(why, reason = "") {
    this.reason = reason;
    this.tell({ stands: false, why, attempts: this.attempts, reason });
    this.timer = setTimeout(() => this.open(), PAUSES[Math.min(this.attempts++, PAUSES.length - 1)]);
  }

  tell(status) {
    this.stands = status.stands;
    this.onStatus(status);
  }

  async isThere() {
    return fetch("icon.svg", { cache: "no-store" }).then(({ ok }) => ok, () => false);
  }

  /** Ask; `reply` hears (answer, null) or (null, error), unless a newer ask of the same kind takes its place. */
  ask(panel, ask, fields, reply) {
    const kind = `${panel} ${ask}`;
    this.waiting.set(kind, { message: { panel, ask, ...fields }, reply });
    this.onBusy(true);
    const before = this.underWay.get(kind);
    if (before === undefined) this.send(kind);
    else setTimeout(() => this.send(kind), Math.max(0, before.sent + PATIENCE - performance.now()));
  }

  send(kind) {
    const next = this.waiting.get(kind);
    if (next === undefined || this.socket?.readyState !== WebSocket.OPEN) return;
    this.waiting.delete(kind);
    const id = ++this.lastId;
    this.underWay.set(kind, { ...next, id, sent: performance.now() });
    this.socket.send(JSON.stringify({ id, ...next.message }));
  }

  receive({ id, panel, ask, answer, error }) {
    const kind = `${panel} ${ask}`;
    const asked = this.underWay.get(kind);
    if (asked === undefined || asked.id !== id) return; // a newer one is on its way
    this.underWay.delete(kind);
    this.send(kind);
    asked.reply(answer ?? null, error ?? null);
    if (this.underWay.size + this.waiting.size === 0) this.onBusy(false);
  }
}
