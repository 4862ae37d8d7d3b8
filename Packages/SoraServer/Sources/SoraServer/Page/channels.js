// The data channels of one connection: signaling's labels carry JSON, the app's begin with "#" and carry bytes.

const HEADER_TYPE = "sender_connection_id";

async function pass(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** What `offer.data_channels` lists, as far as it is open. */
export class Channels {
  #open = new Map();
  #listed = new Map();
  #sending = Promise.resolve();
  #take;

  /** `take.json(message)` gets signaling's messages, `take.message({label, sender, bytes})` the app's. */
  constructor(listed, take) {
    for (const item of listed ?? []) this.#listed.set(item.label, item);
    this.#take = take;
  }

  get labels() { return [...this.#open.keys()]; }
  get(label) { return this.#open.get(label); }
  described(label) { return this.#listed.get(label); }
  isOpen(label) { return this.#open.get(label)?.readyState === "open"; }

  /** Labels that the app may write on. */
  get writable() {
    return this.labels.filter((label) => label.startsWith("#") && this.#listed.get(label)?.direction !== "recvonly");
  }

  add(channel) {
    const item = this.#listed.get(channel.label) ?? {};
    this.#open.set(channel.label, channel);
    channel.binaryType = "arraybuffer";
    channel.addEventListener("close", () => this.#open.delete(channel.label));
    // Taking the compression off takes time: what came first is handed on first.
    let order = Promise.resolve();
    channel.onmessage = ({ data }) => {
      order = order.then(async () => {
        let bytes = typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data);
        if (item.compress) bytes = await pass(bytes, new DecompressionStream("deflate"));
        this.#deliver(channel.label, item, bytes);
      }).catch((error) => console.warn(`a message on ${channel.label} can't be read`, error));
    };
  }

  #deliver(label, item, bytes) {
    if (!label.startsWith("#")) return this.#take.json(JSON.parse(new TextDecoder().decode(bytes)));
    const header = (item.header ?? []).find((part) => part.type === HEADER_TYPE);
    const length = header?.length ?? 0;
    const sender = header ? new TextDecoder().decode(bytes.subarray(0, length)) : null;
    this.#take.message({ label, sender, bytes: bytes.subarray(length) });
  }

  /** Sends text or bytes, compressed where the label is; one after another. */
  send(label, data) {
    const channel = this.#open.get(label);
    const sent = this.#sending.then(async () => {
      let content = data;
      if (this.#listed.get(label)?.compress) {
        const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
        content = await pass(bytes, new CompressionStream("deflate"));
      }
      // Looked at last: while it was compressed the channel may have closed.
      if (channel?.readyState === "open") channel.send(content);
    });
    // What can't be sent keeps nothing from being sent behind it.
    this.#sending = sent.catch(() => {});
    return sent;
  }

  clear() { this.#open.clear(); }
}
