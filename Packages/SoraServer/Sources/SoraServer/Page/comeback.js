const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
// A call that held for so long was a good one: what is lost then is lost for the first time.
const STEADY = 10000;
// Close codes that pass: going away, gone, failed, restarting, full for now (RFC 6455 §7.4.1 and its registry).
const PASSING = new Set([1001, 1006, 1011, 1012, 1013]);

/**
 * Tries to get back into a call that was lost, each later than the one before. What the user or the server meant to end stays ended, and what
 * never was a call isn't tried again.
 */
export class Comeback {
  /** The number of the try that is due or under way. */
  count = 0;
  #wasConnected = false;
  #connectedAt = null;
  #timer = null;

  connected() {
    this.#wasConnected = true;
    this.#connectedAt = Date.now();
  }

  /** Whether another try comes, with a call of `again`, after what ended the connection. */
  follows({ left, error, noPath, lost, late, code }, again) {
    if (!this.#wasConnected || left || error || !(noPath || lost || late || PASSING.has(code))) return false;
    if (this.#connectedAt !== null && Date.now() - this.#connectedAt > STEADY) this.count = 0;
    this.#connectedAt = null;
    // At random: all who were on a server don't come back at once.
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.count) * (0.5 + Math.random() / 2);
    this.count += 1;
    this.#timer = setTimeout(again, wait);
    return true;
  }

  stop() { clearTimeout(this.#timer); }
}
