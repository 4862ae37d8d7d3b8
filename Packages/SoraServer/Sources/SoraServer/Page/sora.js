"use strict";
// A complete Sora client for browsers in one file: WebSocket signaling, an answer to every offer, and a tile a stream.
// The page's state is readable as `sora` on the console: sora.state, sora.connectionId, sora.counters, sora.error.

const element = (id) => document.getElementById(id);
const sora = { state: "idle", connectionId: null, counters: null, error: null, streams: new Map() };
window.sora = sora;

let socket = null;
let peer = null;
let localStream = null;
let statsTimer = null;

function show(state, text) {
  sora.state = state;
  const line = element("status");
  line.textContent = text;
  line.className = state;
  const busy = state === "connecting" || state === "connected";
  for (const button of document.querySelectorAll("button[data-role]")) button.disabled = busy;
  element("stop").disabled = !busy;
}

function describe() {
  const c = sora.counters;
  const people = c
    ? `${c.channel_connections} in the channel (${c.channel_sendrecv_connections} sendrecv, ` +
      `${c.channel_sendonly_connections} sendonly, ${c.channel_recvonly_connections} recvonly)`
    : "";
  show("connected", `Connected as ${sora.connectionId}. ${people}`);
}

function addTile(stream, name, muted) {
  let tile = sora.streams.get(stream.id);
  if (!tile) {
    const figure = document.createElement("figure");
    const video = document.createElement("video");
    const caption = document.createElement("figcaption");
    figure.dataset.stream = stream.id;
    video.autoplay = true;
    video.playsInline = true;
    video.muted = muted;
    video.controls = !muted;
    figure.append(video, caption);
    element("streams").append(figure);
    tile = { figure, video, caption, name, stream };
    sora.streams.set(stream.id, tile);
    stream.addEventListener("removetrack", () => { if (stream.getTracks().length === 0) removeTile(stream.id); });
  }
  tile.caption.textContent = name;
  // Both tracks of a stream come here; the element follows its stream by itself.
  if (tile.video.srcObject === stream) return;
  tile.video.srcObject = stream;
  tile.video.play().catch((error) => {
    // Browsers refuse sound before the user touched the page: then picture first, and sound with the controls.
    if (error.name !== "NotAllowedError") return;
    tile.video.muted = true;
    tile.video.play().catch(() => {});
  });
}

function removeTile(id) {
  const tile = sora.streams.get(id);
  if (!tile) return;
  tile.video.srcObject = null;
  tile.figure.remove();
  sora.streams.delete(id);
}

function send(message) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

async function connect(role) {
  sora.error = null;
  sora.counters = null;
  show("connecting", "Connecting …");
  const wantsVideo = element("video").checked;
  const wantsAudio = element("audio").checked;
  try {
    if (role !== "recvonly") {
      localStream = await navigator.mediaDevices.getUserMedia({
        video: wantsVideo && { width: 1280, height: 720, frameRate: 30 },
        audio: wantsAudio,
      });
      addTile(localStream, "you", true);
    }
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}/signaling`);
  } catch (error) {
    fail(`${error.name}: ${error.message}`);
    return;
  }
  socket.onopen = () => {
    send({
      type: "connect", role, channel_id: element("channel").value, sora_client: "Sora development page",
      environment: navigator.userAgent, audio: wantsAudio,
      video: wantsVideo && { codec_type: element("codec").value },
    });
  };
  // Messages are handled one after another: a re-offer must find the answer before it applied.
  let queue = Promise.resolve();
  socket.onmessage = (event) => {
    queue = queue.then(() => handle(JSON.parse(event.data), role)).catch((error) => fail(String(error)));
  };
  socket.onclose = (event) => {
    if (sora.state === "idle") return;
    if (event.code === 1000) finish("The server ended the connection. " + event.reason);
    else fail(`The connection ended: ${event.code} ${event.reason}`);
  };
}

async function handle(message, role) {
  switch (message.type) {
    case "offer": {
      sora.connectionId = message.connection_id;
      peer = new RTCPeerConnection({
        iceServers: message.config.iceServers, iceTransportPolicy: message.config.iceTransportPolicy,
      });
      peer.ontrack = (event) => {
        const stream = event.streams[0];
        if (stream && stream.id !== sora.connectionId) addTile(stream, stream.id, false);
      };
      peer.onicecandidate = (event) => {
        if (event.candidate && event.candidate.candidate) send({ type: "candidate", candidate: event.candidate.candidate });
      };
      peer.onconnectionstatechange = () => {
        if (!peer) return;
        if (peer.connectionState === "connected") describe();
        if (peer.connectionState === "failed") fail("The media connection failed: no path between this browser and the server.");
      };
      await peer.setRemoteDescription({ type: "offer", sdp: message.sdp });
      if (role !== "recvonly") await attach(message);
      await answer("answer");
      statsTimer = setInterval(updateStats, 1000);
      break;
    }
    case "re-offer":
      await peer.setRemoteDescription({ type: "offer", sdp: message.sdp });
      await answer("re-answer");
      break;
    case "notify":
      if (message.channel_connections !== undefined) {
        sora.counters = message;
        if (peer && peer.connectionState === "connected") describe();
      }
      break;
    case "ping": {
      const pong = { type: "pong" };
      if (message.stats && peer) pong.stats = [...(await peer.getStats()).values()];
      send(pong);
      break;
    }
  }
}

async function attach(offer) {
  for (const kind of ["audio", "video"]) {
    const track = localStream.getTracks().find((t) => t.kind === kind);
    const mid = offer.mid && offer.mid[kind];
    if (!track || !mid) continue;
    const transceiver = peer.getTransceivers().find((t) => t.mid === mid);
    transceiver.direction = "sendonly";
    transceiver.sender.setStreams(localStream);
    await transceiver.sender.replaceTrack(track);
  }
}

async function answer(type) {
  await peer.setLocalDescription(await peer.createAnswer());
  send({ type, sdp: peer.localDescription.sdp });
}

async function updateStats() {
  if (!peer) return;
  for (const [id, tile] of sora.streams) {
    const track = tile.stream.getVideoTracks()[0];
    const video = tile.video;
    const parts = [tile.name];
    // What is sent may be smaller than what the camera gives: the link decides.
    let size = [video.videoWidth, video.videoHeight];
    if (track && peer) {
      const report = await peer.getStats(track).catch(() => null);
      for (const entry of report ? report.values() : []) {
        if (entry.type === "inbound-rtp" || entry.type === "outbound-rtp") {
          if (entry.frameWidth) size = [entry.frameWidth, entry.frameHeight];
          if (entry.framesPerSecond) parts.push(`${entry.framesPerSecond} fps`);
          const bytes = entry.bytesReceived ?? entry.bytesSent;
          if (tile.bytes !== undefined && bytes >= tile.bytes) {
            parts.push(`${Math.round(((bytes - tile.bytes) * 8) / (entry.timestamp - tile.time))} kbit/s`);
          }
          tile.bytes = bytes;
          tile.time = entry.timestamp;
        }
      }
    }
    if (size[0]) parts.splice(1, 0, `${size[0]}×${size[1]}`);
    if (sora.streams.has(id)) tile.caption.textContent = parts.join(" · ");
  }
}

function tearDown() {
  clearInterval(statsTimer);
  if (peer) peer.close();
  peer = null;
  if (socket) {
    socket.onclose = null;
    socket.close(1000);
  }
  socket = null;
  if (localStream) for (const track of localStream.getTracks()) track.stop();
  localStream = null;
  for (const id of [...sora.streams.keys()]) removeTile(id);
}

function finish(text) {
  tearDown();
  show("idle", text);
}

function fail(text) {
  sora.error = text;
  tearDown();
  show("error", text);
}

for (const button of document.querySelectorAll("button[data-role]")) {
  button.onclick = () => { if (element("form").reportValidity()) connect(button.dataset.role); };
}
element("form").onsubmit = (event) => event.preventDefault();
element("stop").onclick = () => {
  send({ type: "disconnect", reason: "NO-ERROR" });
  finish("Not connected.");
};

// A codec that this browser can neither send nor receive isn't offered for choice.
const known = new Set(
  [RTCRtpSender, RTCRtpReceiver].flatMap((side) => side.getCapabilities("video").codecs.map((codec) => codec.mimeType.toUpperCase())));
for (const option of [...element("codec").options]) {
  if (!known.has(`VIDEO/${option.value}`)) option.remove();
}

// ?channel=NAME&codec=VP8&role=recvonly connects at once: a link to a channel.
const query = new URLSearchParams(location.search);
if (query.has("channel")) element("channel").value = query.get("channel");
if (query.has("codec")) element("codec").value = query.get("codec");
for (const kind of ["audio", "video"]) if (query.get(kind) === "0") element(kind).checked = false;
if (query.has("role")) connect(query.get("role"));
