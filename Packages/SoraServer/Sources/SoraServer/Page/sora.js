"use strict";
// A complete Sora client for browsers in one file: WebSocket signaling, an answer to every offer, and a tile a stream.
// The page's state is readable as `sora` on the console: sora.state, sora.connectionId, sora.counters, sora.error, sora.messages.
// From `switched` on, signaling goes over data channels.

const element = (id) => document.getElementById(id);
const sora = { state: "idle", role: null, connectionId: null, counters: null, error: null, streams: new Map(), channels: new Map(), switched: false, messages: [] };
window.sora = sora;

const query = new URLSearchParams(location.search);
let socket = null;
let peer = null;
let localStream = null;
let statsTimer = null;

// What happened, and on a line of its own what to do about it.
function show(state, text, advice) {
  sora.state = state;
  const line = element("status");
  const strong = document.createElement("strong");
  strong.textContent = text;
  const body = document.createElement("div");
  body.append(state === "idle" ? text : strong);
  if (advice) {
    const rest = document.createElement("span");
    rest.className = "advice";
    rest.textContent = advice;
    body.append(rest);
  }
  line.replaceChildren(body);
  line.className = `card ${state}`;
  const busy = state === "connecting" || state === "connected";
  for (const button of document.querySelectorAll("button[data-role]")) button.disabled = busy;
  element("stop").disabled = !busy;
  showEmpty();
}

// Identifiers are long; their beginning tells them apart, and the whole is in the tooltip.
function short(id) {
  return id.length > 8 ? `${id.slice(0, 6)}…` : id;
}

function people(c) {
  const groups = [
    [c.channel_sendonly_connections, "publishing"], [c.channel_recvonly_connections, "watching"],
    [c.channel_sendrecv_connections, "doing both"],
  ];
  if (c.channel_connections === 1) return "Nobody else is here.";
  return `${c.channel_connections} here: ${groups.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`).join(", ")}.`;
}

const DOING = { sendonly: "Publishing to", recvonly: "Watching", sendrecv: "Publishing to and watching" };

function describe() {
  show("connected", `${DOING[sora.role]} ${element("channel").value}, as ${short(sora.connectionId)}`, sora.counters && people(sora.counters));
  element("status").title = `connection ${sora.connectionId}`;
}

// While nothing is to be seen: how something could be.
function showEmpty() {
  element("empty").hidden = sora.streams.size > 0 || sora.state === "error";
  const channel = element("channel").value;
  element("empty").querySelector("p").textContent = sora.state === "connected"
    ? `Nobody publishes to ${channel} yet. From a terminal:` : "Nothing to see yet. Press a button above, or publish a test pattern from a terminal:";
  const quoted = /^[\w.@-]+$/.test(channel) ? channel : `'${channel.replaceAll("'", "'\\''")}'`;
  element("empty").querySelector("code").textContent = `sora publish ${signalingURL()} --channel ${quoted}`;
}

function signalingURL() {
  return `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/signaling`;
}

function addTile(stream, name, muted) {
  let tile = sora.streams.get(stream.id);
  if (!tile) {
    const figure = document.createElement("figure");
    const video = document.createElement("video");
    const caption = document.createElement("figcaption");
    figure.className = "card";
    figure.dataset.stream = stream.id;
    caption.title = `stream ${stream.id}`;
    video.autoplay = true;
    video.playsInline = true;
    video.muted = muted;
    video.controls = !muted;
    figure.append(video, caption);
    element("streams").append(figure);
    tile = { figure, video, caption, name, stream };
    sora.streams.set(stream.id, tile);
    showEmpty();
    stream.addEventListener("removetrack", () => { if (stream.getTracks().length === 0) removeTile(stream.id); });
  }
  caption(tile, []);
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
  showEmpty();
}

function caption(tile, parts) {
  const name = document.createElement("span");
  name.className = "name";
  name.textContent = tile.name;
  const rest = document.createElement("span");
  rest.textContent = parts.join(" · ");
  tile.caption.replaceChildren(name, rest);
}

// `pong` belongs to the WebSocket; the rest goes where signaling is.
function send(message, label = "signaling") {
  const channel = sora.channels.get(label);
  if (sora.switched && message.type !== "pong" && channel && channel.readyState === "open") channel.send(JSON.stringify(message));
  else if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

// What everybody in the channel may read and write.
const CHAT = "#chat";
const SENDER_LENGTH = 26;

function listen(channel, take) {
  sora.channels.set(channel.label, channel);
  channel.binaryType = "arraybuffer";
  channel.onclose = () => sora.channels.delete(channel.label);
  if (channel.label === CHAT) {
    element("chat").hidden = false;
    channel.onmessage = (event) => {
      const bytes = new Uint8Array(event.data);
      const text = (part) => new TextDecoder().decode(part);
      addMessage(text(bytes.subarray(0, SENDER_LENGTH)), text(bytes.subarray(SENDER_LENGTH)));
    };
  } else {
    channel.onmessage = (event) => take(JSON.parse(event.data));
  }
}

function addMessage(from, text) {
  sora.messages.push({ from, text });
  const line = document.createElement("li");
  const name = document.createElement("b");
  name.textContent = from === sora.connectionId ? "you" : short(from);
  name.title = from;
  line.append(name, text);
  const list = element("chat").querySelector("ol");
  list.append(line);
  while (list.children.length > 200) list.firstChild.remove();
  list.scrollTop = list.scrollHeight;
}

// Why camera and microphone can't be had, and what to change.
function mediaProblem(error, wantsVideo, wantsAudio) {
  const what = wantsVideo && wantsAudio ? "camera and microphone" : wantsVideo ? "camera" : "microphone";
  switch (error.name) {
    case "NotAllowedError": return [`The browser doesn't give this page the ${what}.`, "Allow it beside the page's address, then publish again."];
    case "NotFoundError": return [`This machine has no ${what} for the browser.`, "Plug one in, or untick what isn't there."];
    case "NotReadableError": return [`The ${what} can't be opened.`, "Another program may be using it: close that, then publish again."];
    default: return [`The ${what} can't be opened.`, error.message];
  }
}

const INSECURE = "Camera and microphone need https or localhost.";
const INSECURE_WAY = `Open this page at http://localhost${location.port && ":" + location.port} on the server's own machine, or give sora serve a TLS certificate. Watching works here.`;

// Why the WebSocket ended, and what to do (RFC 6455 §7.4.1, and Sora's own codes).
function closeProblem(event, wasOpen) {
  const reason = event.reason ? `It says: ${event.reason}` : "Its log may say why.";
  const again = "Connect again once it is back.";
  switch (event.code) {
    case 1000: return ["The server ended the connection.", reason];
    case 1001: return ["The server was stopped.", again];
    case 1006: return wasOpen
      ? ["The server is gone.", `It was stopped, or the network broke. ${again}`]
      : ["The server can't be reached.", `Check that sora serve still runs at ${location.host}.`];
    case 1011: return ["The media connection was lost.", "Check the network, then connect again."];
    case 1013: return ["The server is full.", "Wait until somebody leaves."];
    case 4490: return ["The server refused to connect.", reason];
    default: return [`The server ended the connection (${event.code}).`, reason];
  }
}

async function connect(role) {
  sora.error = null;
  sora.counters = null;
  sora.role = role;
  const wantsVideo = element("video").checked;
  const wantsAudio = element("audio").checked;
  if (!DOING[role]) return fail(`“${role}” is no role.`, "Use role=sendonly, recvonly or sendrecv in the address.");
  if (!wantsVideo && !wantsAudio) {
    return fail("Tick video or audio.", `With both off there is nothing to ${role === "recvonly" ? "receive" : "send"}.`);
  }
  if (role !== "recvonly" && !navigator.mediaDevices) return fail(INSECURE, INSECURE_WAY);
  const link = new URL(location);
  link.searchParams.set("channel", element("channel").value);
  history.replaceState(null, "", link);
  show("connecting", "Connecting …");
  if (role !== "recvonly") {
    try {
      localStream = await navigator.mediaDevices.getUserMedia({
        video: wantsVideo && { width: 1280, height: 720, frameRate: 30 },
        audio: wantsAudio,
      });
    } catch (error) {
      return fail(...mediaProblem(error, wantsVideo, wantsAudio));
    }
    addTile(localStream, "you", true);
  }
  let wasOpen = false;
  socket = new WebSocket(signalingURL());
  socket.onopen = () => {
    wasOpen = true;
    send({
      type: "connect", role, channel_id: element("channel").value, sora_client: "Sora development page",
      environment: navigator.userAgent, audio: wantsAudio, data_channel_signaling: true,
      ignore_disconnect_websocket: query.get("websocket") === "0",
      metadata: query.has("access_token") ? { access_token: query.get("access_token") } : undefined,
      data_channels: [{ label: CHAT, direction: "sendrecv", header: [{ type: "sender_connection_id" }] }],
      video: wantsVideo && { codec_type: element("codec").value },
    });
  };
  // Messages are handled one after another: a re-offer must find the answer before it applied.
  let queue = Promise.resolve();
  const take = (message) => {
    queue = queue.then(() => handle(message, role, take)).catch((error) => fail("This browser and the server don't understand each other.", String(error)));
  };
  socket.onmessage = (event) => take(JSON.parse(event.data));
  socket.onclose = (event) => {
    if (sora.state === "idle") return;
    if (event.code === 1000) finish("The server ended the connection. " + event.reason);
    else fail(...closeProblem(event, wasOpen));
  };
}

async function handle(message, role, take) {
  switch (message.type) {
    case "offer": {
      sora.connectionId = message.connection_id;
      peer = new RTCPeerConnection({
        iceServers: message.config.iceServers, iceTransportPolicy: message.config.iceTransportPolicy,
      });
      peer.ontrack = (event) => {
        const stream = event.streams[0];
        if (stream && stream.id !== sora.connectionId) addTile(stream, short(stream.id), false);
      };
      peer.ondatachannel = (event) => listen(event.channel, take);
      peer.onicecandidate = (event) => {
        if (event.candidate && event.candidate.candidate) send({ type: "candidate", candidate: event.candidate.candidate });
      };
      peer.onconnectionstatechange = () => {
        if (!peer) return;
        if (peer.connectionState === "connected") describe();
        if (peer.connectionState === "failed") {
          fail("No path for media between this browser and the server.", "Check that UDP passes between them, or start sora serve with --turn.");
        }
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
    case "switched":
      sora.switched = true;
      if (message.ignore_disconnect_websocket) {
        socket.onclose = null;
        socket.close(1000);
      }
      break;
    // Over data channels: the server's last word.
    case "close":
      if (socket) socket.onclose = null;
      if (message.code === 1000) finish("The server ended the connection. " + message.reason);
      else fail(...closeProblem(message, true));
      break;
    case "req-stats":
      if (peer) send({ type: "stats", reports: [...(await peer.getStats()).values()] }, "stats");
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
    const parts = [];
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
    if (size[0]) parts.unshift(`${size[0]}×${size[1]}`);
    if (sora.streams.has(id)) caption(tile, parts);
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
  sora.channels.clear();
  sora.switched = false;
  sora.messages = [];
  element("chat").hidden = true;
  element("chat").querySelector("ol").replaceChildren();
  for (const id of [...sora.streams.keys()]) removeTile(id);
}

function finish(text) {
  tearDown();
  show("idle", text);
}

function fail(text, advice) {
  sora.error = [text, advice].filter(Boolean).join(" ");
  tearDown();
  if (text === INSECURE) element("notice").hidden = true;
  show("error", text, advice);
}

for (const button of document.querySelectorAll("button[data-role]")) {
  button.onclick = () => { if (element("form").reportValidity()) connect(button.dataset.role); };
}
element("form").onsubmit = (event) => event.preventDefault();
element("chat").querySelector("form").onsubmit = (event) => {
  event.preventDefault();
  const field = event.target.querySelector("input");
  const channel = sora.channels.get(CHAT);
  if (!field.value || !channel || channel.readyState !== "open") return;
  channel.send(field.value);
  addMessage(sora.connectionId, field.value);
  field.value = "";
};
element("stop").onclick = async () => {
  const signaling = sora.switched && sora.channels.get("signaling");
  send({ type: "disconnect", reason: "NO-ERROR" });
  // What is written on a data channel is gone with the connection: the server closes the channel once it has read it.
  if (signaling) await Promise.race([new Promise((closed) => signaling.addEventListener("close", closed)), new Promise((late) => setTimeout(late, 1000))]);
  finish("Not connected.");
};

// A codec that this browser can neither send nor receive isn't offered for choice.
const known = new Set(
  [RTCRtpSender, RTCRtpReceiver].flatMap((side) => side.getCapabilities("video").codecs.map((codec) => codec.mimeType.toUpperCase())));
for (const option of [...element("codec").options]) {
  if (!known.has(`VIDEO/${option.value}`)) option.remove();
}

if (!navigator.mediaDevices) {
  element("notice").textContent = `${INSECURE} Here, on plain http, this page can watch.`;
  element("notice").hidden = false;
}
element("channel").oninput = showEmpty;

// ?channel=NAME&codec=VP8&role=recvonly connects at once: a link to a channel. video=0 and audio=0 untick; with websocket=0 the
// WebSocket ends once signaling goes over data channels.
if (query.has("channel")) element("channel").value = query.get("channel");
if (query.has("codec")) element("codec").value = query.get("codec");
for (const kind of ["audio", "video"]) if (query.get(kind) === "0") element(kind).checked = false;
showEmpty();
if (query.has("role")) connect(query.get("role"));
