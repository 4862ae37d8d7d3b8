"use strict";
// A client that does what the official one for browsers is seen to do, and nothing of this project's page: it says nothing of
// data-channel signaling, sends a capability offer, attaches tracks with addTrack, sets encodings before and after it applies the
// offer again, and answers on the data channel as soon as there is one.

window.SoraScript = class {
  constructor(url, role, channelId, options = {}) {
    this.url = url;
    this.role = role;
    this.channelId = channelId;
    // What is sent, and what isn't the protocol's: `video` and `audio` are `connect`'s, too.
    this.options = options;
    this.offer = null;
    this.log = [];
    this.notifications = [];
    this.pushes = [];
    this.messages = [];
    this.channels = {};
    this.tracks = [];
    this.switched = null;
    this.createdAt = null;
    this.switchedAt = null;
    this.ended = null;
    this.complaints = [];
    this.calls = new Map();
    this.queue = Promise.resolve();
  }

  note(way, via, type) {
    this.log.push([way, via, type]);
  }

  async capabilities() {
    const peer = new RTCPeerConnection();
    const direction = this.role === "recvonly" ? "recvonly" : "sendrecv";
    for (const kind of ["video", "audio"]) peer.addTransceiver(kind, { direction });
    const { sdp } = await peer.createOffer();
    peer.close();
    return sdp;
  }

  async connect(stream = null) {
    this.stream = stream;
    const sdp = await this.capabilities();
    this.socket = new WebSocket(this.url);
    this.socket.onmessage = (event) => {
      if (typeof event.data !== "string") this.complaints.push("a binary message on the WebSocket");
      else this.take("WebSocket", JSON.parse(event.data));
    };
    this.socket.onclose = (event) => {
      this.note("in", "WebSocket", "closed");
      this.ended ??= { code: event.code, reason: event.reason };
    };
    this.socket.onopen = () => this.say("WebSocket", {
      type: "connect", sora_client: "a script", environment: navigator.userAgent, role: this.role, channel_id: this.channelId, sdp,
      audio: true, video: true, ...this.options.connect,
    });
  }

  say(via, message) {
    this.note("out", via, message.type);
    const text = JSON.stringify(message);
    if (via === "WebSocket") this.socket.send(text);
    else this.send(via, text);
  }

  // The data channel first, as soon as it is there.
  get way() { return this.channels.signaling?.readyState === "open" ? "signaling" : "WebSocket"; }

  item(label) { return (this.offer.data_channels ?? []).find((item) => item.label === label); }

  async send(label, data) {
    if (!this.item(label).compress) return this.channels[label].send(data);
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    this.channels[label].send(await this.pass(bytes, new CompressionStream("deflate")));
  }

  async pass(bytes, stream) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  }

  take(via, message) {
    this.note("in", via, message.type ?? "rpc");
    this.queue = this.queue.then(() => this.handle(via, message)).catch((error) => this.complaints.push(`${message.type}: ${error}`));
  }

  async handle(via, message) {
    switch (message.type) {
      case "offer": return this.start(message);
      case "re-offer":
        await this.peer.setRemoteDescription({ type: "offer", sdp: message.sdp });
        await this.encode();
        await this.peer.setLocalDescription(await this.peer.createAnswer());
        return this.say(this.way, { type: "re-answer", sdp: this.peer.localDescription.sdp });
      case "ping": return this.say("WebSocket", { type: "pong", ...(message.stats && { stats: await this.stats() }) });
      case "req-stats": return this.say("stats", { type: "stats", reports: await this.stats() });
      case "switched":
        this.switched = message;
        this.switchedAt = performance.now();
        if (message.ignore_disconnect_websocket) {
          this.socket.onclose = null;
          this.socket.close();
        }
        return;
      case "notify":
        this.notifications.push(message);
        if (message.event_type === "connection.created" && message.connection_id === this.offer.connection_id) this.createdAt = performance.now();
        return;
      case "push": return void this.pushes.push(message.data);
      case "close": this.ended = { code: message.code, reason: message.reason, via }; return;
      default:
        if (message.jsonrpc) this.calls.get(message.id)?.(message);
        else this.complaints.push(`an unknown message: ${message.type}`);
    }
  }

  async stats() { return [...(await this.peer.getStats()).values()]; }

  async start(offer) {
    this.offer = offer;
    const { iceServers, iceTransportPolicy } = offer.config;
    this.peer = new RTCPeerConnection({ iceServers, iceTransportPolicy, encodedInsertableStreams: Boolean(this.options.trailer) });
    this.peer.ontrack = (event) => {
      this.tracks.push([event.track, event.streams[0].id]);
      if (this.options.trailer) this.transform(event.receiver, false, event.track.kind);
    };
    this.peer.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate) this.say(this.way, { type: "candidate", ...candidate.toJSON() });
    };
    this.peer.ondatachannel = ({ channel }) => this.open(channel);
    await this.peer.setRemoteDescription({ type: "offer", sdp: offer.sdp });
    for (const track of this.stream?.getTracks() ?? []) {
      if (!offer.mid?.[track.kind]) continue;
      const sender = this.peer.addTrack(track, this.stream);
      if (this.options.trailer) this.transform(sender, true, track.kind);
    }
    await this.encode();
    if (offer.simulcast && offer.encodings) {
      await this.peer.setRemoteDescription({ type: "offer", sdp: offer.sdp });
      await this.encode();
    }
    await this.peer.setLocalDescription(await this.peer.createAnswer());
    this.say("WebSocket", { type: "answer", sdp: this.peer.localDescription.sdp });
  }

  sender(kind) {
    return this.peer.getTransceivers().find((one) => one.mid === this.offer.mid?.[kind])?.sender;
  }

  async encode() {
    const sender = this.sender("video");
    if (!this.offer.simulcast || !this.offer.encodings || !sender?.track) return;
    const parameters = sender.getParameters();
    if (parameters.encodings.length !== this.offer.encodings.length) this.complaints.push(`${parameters.encodings.length} encodings`);
    for (const encoding of parameters.encodings) Object.assign(encoding, this.offer.encodings.find((one) => one.rid === encoding.rid));
    await sender.setParameters(parameters);
  }

  open(channel) {
    const item = this.item(channel.label);
    if (!item) return void this.complaints.push(`${channel.label} isn't listed`);
    this.channels[channel.label] = channel;
    channel.binaryType = "arraybuffer";
    channel.onclose = () => {
      this.note("in", channel.label, "closed");
      delete this.channels[channel.label];
    };
    // Taking the compression off takes time: what came first is read first.
    let order = Promise.resolve();
    channel.onmessage = ({ data }) => { order = order.then(() => this.read(channel, item, data)); };
  }

  async read(channel, item, data) {
    const isText = typeof data === "string";
    // Signaling's are handed to the JSON parser as they come, unless they are compressed.
    if (!channel.label.startsWith("#") && isText === Boolean(item.compress)) this.complaints.push(`${channel.label}: text is ${isText}`);
    let bytes = isText ? new TextEncoder().encode(data) : new Uint8Array(data);
    const raw = bytes.length;
    if (item.compress) bytes = await this.pass(bytes, new DecompressionStream("deflate"));
    if (!channel.label.startsWith("#")) return this.take(channel.label, JSON.parse(new TextDecoder().decode(bytes)));
    const length = item.header?.[0]?.length ?? 0;
    const text = (part) => new TextDecoder().decode(part);
    this.messages.push({ label: channel.label, header: text(bytes.subarray(0, length)), text: text(bytes.subarray(length)), raw });
  }

  call(method, params, id = 1 + this.calls.size) {
    return new Promise((resolve, reject) => {
      this.calls.set(id, resolve);
      this.note("out", "rpc", method);
      this.send("rpc", JSON.stringify({ jsonrpc: "2.0", method, params, id }));
      setTimeout(() => reject(new Error(`${method} was not answered`)), 5000);
    });
  }

  // Clients append bytes to frames, and take them off again.
  transform(end, isSending, kind) {
    const { readable, writable } = end.createEncodedStreams();
    const { trailer } = this.options;
    this.trailers ??= { audio: [0, 0], video: [0, 0] };
    const step = (frame, controller) => {
      const bytes = new Uint8Array(frame.data);
      if (isSending) {
        const longer = new Uint8Array(bytes.length + trailer.length);
        longer.set(bytes);
        longer.set(trailer, bytes.length);
        frame.data = longer.buffer;
      } else {
        const at = bytes.length - trailer.length;
        const isThere = trailer.every((byte, index) => bytes[at + index] === byte);
        this.trailers[kind][isThere ? 0 : 1] += 1;
        if (isThere) frame.data = bytes.slice(0, at).buffer;
      }
      controller.enqueue(frame);
    };
    readable.pipeThrough(new TransformStream({ transform: step })).pipeTo(writable);
  }

  async disconnect() {
    const channel = this.channels.signaling;
    const isOver = new Promise((done) => {
      if (channel) channel.addEventListener("close", done);
      else this.socket.addEventListener("close", done);
    });
    this.say(this.switched ? "signaling" : "WebSocket", { type: "disconnect", reason: "NO-ERROR" });
    await Promise.race([isOver, new Promise((_, late) => setTimeout(() => late(new Error("nothing was closed")), 3000))]);
  }
};
