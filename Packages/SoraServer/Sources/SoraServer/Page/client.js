import { Channels } from "./channels.js";

const CALL_TIMEOUT = 5000;
const FAREWELL = 1000;
// Servers that send a client round in a circle are left.
const MOST_REDIRECTS = 5;
// A server that doesn't answer `connect` within so long is given up, and so is a path that doesn't come back.
const OFFER_LIMIT = 15000;
const PATH_LIMIT = 10000;

/**
 * A Sora client for browsers: a WebSocket, an answer to every offer, and data channels from `switched` on. It knows nothing of the page.
 *
 * Events: `offer`, `connected`, `track`, `channel`, `notify`, `push`, `message`, `redirect` where another server takes over, and once `ended`
 * with what ended it.
 */
export class Client extends EventTarget {
  offer = null;
  peer = null;
  isSwitched = false;
  channels = new Channels([], {});
  #socket = null;
  #wasOpen = false;
  #isOver = false;
  #isLeaving = false;
  #offerTimer = null;
  #pathTimer = null;
  #wasConnected = false;
  #queue = Promise.resolve();
  #calls = new Map();
  #lastCall = 0;
  #connect;
  #redirects = 0;
  #stream;

  /** `connect` is the first message; `stream` has the tracks that are sent, or is null. */
  constructor(url, connect, stream) {
    super();
    this.#stream = stream;
    this.#connect = connect;
    this.#open(url);
  }

  #open(url) {
    const number = this.#redirects;
    this.#wasOpen = false;
    this.#offerTimer = setTimeout(() => this.#end({ late: true }), OFFER_LIMIT);
    this.#socket = new WebSocket(url);
    this.#socket.onopen = () => {
      this.#wasOpen = true;
      this.#send(number > 0 ? { ...this.#connect, redirect: true } : this.#connect);
    };
    this.#socket.onmessage = (event) => this.#take(JSON.parse(event.data), number);
    // Behind what came before: that may name another server.
    this.#socket.onclose = ({ code, reason }) => {
      this.#queue = this.#queue.then(() => { if (number === this.#redirects) this.#end({ code, reason, wasOpen: this.#wasOpen }); });
    };
  }

  on(type, listener) {
    this.addEventListener(type, (event) => listener(event.detail));
    return this;
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }

  // Messages are handled one after another: a re-offer must find the answer before it applied. What a server says after it has sent the
  // client elsewhere counts no more.
  #take(message, number) {
    this.#queue = this.#queue.then(() => (this.#isOver || number !== this.#redirects ? null : this.#handle(message)))
      .catch((error) => this.#end({ error }));
  }

  #redirect(location) {
    if (this.#redirects === MOST_REDIRECTS) throw new Error("it was sent from server to server");
    this.#redirects += 1;
    this.#dropSocket();
    this.#dropPeer();
    this.#emit("redirect", location);
    this.#open(location);
  }

  #dropPeer() {
    clearTimeout(this.#offerTimer);
    clearTimeout(this.#pathTimer);
    this.peer?.close();
    this.channels.clear();
    this.peer = this.offer = null;
    this.isSwitched = false;
    for (const { reject, timer } of this.#calls.values()) {
      clearTimeout(timer);
      reject(new Error("The connection has ended."));
    }
    this.#calls.clear();
  }

  // `pong` belongs to the WebSocket; the rest goes where signaling is.
  #send(message, label = "signaling") {
    const text = JSON.stringify(message);
    if (this.isSwitched && message.type !== "pong" && this.channels.isOpen(label)) this.channels.send(label, text);
    else if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  async #handle(message) {
    switch (message.type) {
      case "redirect": return this.#redirect(message.location);
      case "offer": return this.#start(message);
      case "re-offer":
        await this.peer.setRemoteDescription({ type: "offer", sdp: message.sdp });
        await this.#applyEncodings();
        return this.#answer("re-answer");
      case "notify": return this.#emit("notify", message);
      case "push": return this.#emit("push", message.data);
      case "switched":
        this.isSwitched = true;
        if (message.ignore_disconnect_websocket) this.#dropSocket();
        return this.#emit("switched", message);
      // Over data channels: the server's last word.
      case "close": return this.#dismissed({ code: message.code, reason: message.reason, wasOpen: true }, this.#redirects);
      case "req-stats": return this.#send({ type: "stats", reports: await this.#reports() }, "stats");
      case "ping": return this.#send(message.stats ? { type: "pong", stats: await this.#reports() } : { type: "pong" });
      default: if (message.jsonrpc) this.#reply(message);
    }
  }

  // A WebSocket that is still there has its own last word, and may name another server first.
  #dismissed(how, number) {
    if (this.#socket === null) return this.#end(how);
    setTimeout(() => { if (number === this.#redirects) this.#end(how); }, FAREWELL);
  }

  async #reports() { return this.peer ? [...(await this.peer.getStats()).values()] : []; }

  async #start(offer) {
    const number = this.#redirects;
    clearTimeout(this.#offerTimer);
    this.offer = offer;
    this.channels = new Channels(offer.data_channels, {
      json: (message) => this.#take(message, number), message: (message) => this.#emit("message", message),
    });
    const { iceServers, iceTransportPolicy } = offer.config ?? {};
    const peer = new RTCPeerConnection({ iceServers, iceTransportPolicy });
    this.peer = peer;
    peer.ontrack = ({ track, streams: [stream] }) => {
      if (stream && stream.id !== offer.connection_id) this.#emit("track", { track, stream });
    };
    peer.ondatachannel = ({ channel }) => {
      this.channels.add(channel);
      this.#emit("channel", channel);
    };
    peer.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate) this.#send({ type: "candidate", candidate: candidate.candidate });
    };
    peer.onconnectionstatechange = () => this.#pathChanged(peer.connectionState);
    this.#emit("offer", offer);
    await peer.setRemoteDescription({ type: "offer", sdp: offer.sdp });
    for (const track of this.#stream?.getTracks() ?? []) {
      const transceiver = this.#transceiver(track.kind);
      if (!transceiver) continue;
      transceiver.direction = "sendonly";
      transceiver.sender.setStreams?.(this.#stream);
      await transceiver.sender.replaceTrack(track);
    }
    await this.#applyEncodings();
    await this.#answer("answer");
  }

  #pathChanged(state) {
    clearTimeout(this.#pathTimer);
    const end = () => this.#end(this.#wasConnected ? { lost: true } : { noPath: true });
    switch (state) {
      case "connected":
        this.#wasConnected = true;
        return this.#emit("connected");
      case "disconnected":
        this.#pathTimer = setTimeout(end, PATH_LIMIT);
        break;
      case "failed": end();
    }
  }

  #transceiver(kind) {
    const mid = this.offer?.mid?.[kind];
    return mid && this.peer?.getTransceivers().find((one) => one.mid === mid);
  }

  async #answer(type) {
    await this.peer.setLocalDescription(await this.peer.createAnswer());
    this.#send({ type, sdp: this.peer.localDescription.sdp });
  }

  // The layers that the offer asks for: a browser has made their rids of the description, and not what they shall be.
  async #applyEncodings() {
    const { simulcast, encodings } = this.offer;
    const sender = this.#transceiver("video")?.sender;
    if (!simulcast || !encodings || !sender?.track) return;
    const parameters = sender.getParameters();
    for (const encoding of parameters.encodings) Object.assign(encoding, encodings.find((one) => one.rid === encoding.rid));
    await sender.setParameters(parameters);
  }

  /** Sends another track in the place of the one of its kind. */
  async replace(track) { await this.#transceiver(track.kind)?.sender.replaceTrack(track); }

  /** Whether the server takes a call of that name. */
  offers(method) { return this.channels.isOpen("rpc") && (this.offer.rpc_methods ?? []).includes(method); }

  /** Calls a method at the server (JSON-RPC 2.0); its result. */
  call(method, params) {
    if (!this.offers(method)) return Promise.reject(new Error(`The server doesn't offer ${method}.`));
    const id = (this.#lastCall += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#calls.delete(id);
        reject(new Error(`${method} was not answered.`));
      }, CALL_TIMEOUT);
      this.#calls.set(id, { resolve, reject, timer });
      this.channels.send("rpc", JSON.stringify({ jsonrpc: "2.0", method, params, id })).catch(reject);
    });
  }

  #reply({ id, result, error }) {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    clearTimeout(call.timer);
    if (error) call.reject(new Error(error.message));
    else call.resolve(result);
  }

  /** Leaves in order. */
  async leave() {
    this.#isLeaving = true;
    const signaling = this.isSwitched && this.channels.get("signaling");
    this.#send({ type: "disconnect", reason: "NO-ERROR" });
    // What is written on a data channel is gone with the connection: the server closes the channel once it has read it.
    if (signaling) {
      await Promise.race([
        new Promise((closed) => signaling.addEventListener("close", closed)), new Promise((late) => setTimeout(late, FAREWELL)),
      ]);
    }
    this.#end({ left: true });
  }

  #dropSocket() {
    if (!this.#socket) return;
    this.#socket.onclose = null;
    this.#socket.close(1000);
    this.#socket = null;
  }

  #end(how) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#dropSocket();
    this.#dropPeer();
    // Who leaves wants no call, whatever becomes of it meanwhile.
    this.#emit("ended", this.#isLeaving ? { left: true } : how);
  }
}
