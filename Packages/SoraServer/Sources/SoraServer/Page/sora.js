// The page: a form, a call, and what is to be seen of it. Its state is readable as `sora` on the console: sora.state, sora.connectionId,
// sora.counters, sora.error, sora.streams, sora.messages, sora.events, sora.peer.
import { Client } from "./client.js";
import { Comeback } from "./comeback.js";
import { Devices } from "./devices.js";
import { Events, Messages, showPeople } from "./lists.js";
import { People } from "./people.js";
import { Plots } from "./plots.js";
import { Settings } from "./settings.js";
import { Statistics } from "./statistics.js";
import { Tiles } from "./tiles.js";
import { DOING, endProblem, INSECURE, INSECURE_WAY, mediaProblem, people as countWords, TALKING } from "./words.js";

const REQUEST_RID = "2025.2.0/RequestSimulcastRid";
const REQUEST_SPOTLIGHT = "2025.2.0/RequestSpotlightRid";
const PUT_ITEM = "2025.2.0/PutSignalingNotifyMetadataItem";

const element = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const settings = new Settings(element("form"), element("labels"), element("label-row"));
const people = new People();
const messages = new Messages(element("messages"));
const events = new Events(element("events"));
const tiles = new Tiles(element("streams"), (tile, rid) => askForLayer(tile.id, rid), showEmpty);
const devices = new Devices({ camera: element("camera"), microphone: element("microphone"), speaker: element("speaker") }, deviceChosen);
let client = null;
let comeback = new Comeback();
// Where the call may go on: this server, and those that it named.
let addresses = [];
let role = null;
let statistics = null;
let plots = null;
let timer = null;
// Layers by connection: what was asked for here, and what the server says that it sends.
let layers = new Map();

const sora = {
  state: "idle", counters: null, error: null, streams: tiles.all,
  get role() { return role; },
  get connectionId() { return client?.offer?.connection_id ?? null; },
  get peer() { return client?.peer ?? null; },
  get client() { return client; },
  get localStream() { return devices.stream; },
  get messages() { return messages.all; },
  get events() { return events.all; },
  get people() { return people.all; },
};
window.sora = sora;

// MARK: What is shown

function show(state, text, advice) {
  sora.state = state;
  const strong = document.createElement(state === "idle" ? "span" : "strong");
  strong.textContent = text;
  const body = document.createElement("div");
  body.append(strong);
  if (advice) {
    const rest = document.createElement("span");
    rest.className = "advice";
    rest.textContent = advice;
    body.append(rest);
  }
  element("status").replaceChildren(body);
  element("status").className = `card ${state}`;
  const busy = ["connecting", "connected", "reconnecting"].includes(state);
  document.body.classList.toggle("busy", busy);
  for (const button of document.querySelectorAll("button[data-role]")) button.disabled = busy;
  for (const field of document.querySelectorAll("[data-fixed]")) field.disabled = busy;
  element("stop").disabled = !busy;
  element("toolbar").hidden = !busy;
  if (!busy) openSettings(true);
  element("call").hidden = element("statistics").hidden = state !== "connected" && state !== "reconnecting";
  showEmpty();
}

function openSettings(isOpen) {
  element("form").hidden = !isOpen;
  element("settings").setAttribute("aria-expanded", String(isOpen));
}

function describe() {
  show("connected", `${isTalking() ? TALKING : DOING[role]} ${settings.channel}, as ${people.name(sora.connectionId)}`, sora.counters && countWords(sora.counters));
  element("status").title = `connection ${sora.connectionId}`;
}

/** Whether neither video nor audio is wanted. */
function isTalking() { return !settings.isOn("video") && !settings.isOn("audio"); }

// While nothing is to be seen: how something could be.
function showEmpty() {
  element("empty").hidden = tiles.all.size > 0 || sora.state === "error" || sora.state === "reconnecting";
  const isHere = sora.state === "connected";
  const quote = (text) => (/^[\w.@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const target = `${signalingURL()} --channel ${quote(settings.channel)}`;
  const label = client?.channels.writable[0];
  const [text, command] = isHere && isTalking() && label
    ? ["Messages only: video and audio are off. From a terminal:", `sora message ${target} --label ${quote(label)} --send hello`]
    : [
      isHere ? `Nobody publishes to ${settings.channel} yet. From a terminal:` : "Nothing to see yet. Press a button above, or publish a test pattern from a terminal:",
      `sora publish ${target}`,
    ];
  element("empty").querySelector("p").textContent = text;
  element("empty").querySelector("code").textContent = command;
}

function signalingURL() {
  return `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/signaling`;
}

function showPresence() {
  showPeople(element("people"), people, sora.connectionId);
  for (const tile of tiles.all.values()) {
    const id = tile.isOwn ? sora.connectionId : tile.id;
    if (!tile.isOwn) tile.rename(people.name(tile.id));
    const isMuted = (kind) => (tile.isOwn ? devices.mute[kind] : people.isMuted(id, kind));
    tile.showState({
      isFocused: settings.isOn("spotlight") && (people.get(id)?.isFocused ?? false),
      isSilent: isMuted("audio"), cover: tile.stream.getVideoTracks().length === 0 ? "Audio only" : isMuted("video") ? "Camera off" : null,
    });
    const asked = layers.get(id)?.asked ?? (settings.text("rid") || null);
    const isLayered = settings.isOn("simulcast") || people.get(id)?.metadata?.simulcast || layers.has(id);
    tile.canAsk = Boolean(isLayered) && !settings.isOn("spotlight");
    tile.showLayer(asked, layers.get(id)?.current ?? null);
  }
}

function showMute() {
  for (const [kind, id, what] of [["audio", "mute-audio", "microphone"], ["video", "mute-video", "camera"]]) {
    const button = element(id);
    button.hidden = !devices.stream?.getTracks().some((track) => track.kind === kind);
    button.classList.toggle("off", devices.mute[kind]);
    button.querySelector("span").textContent = devices.mute[kind] ? `Turn ${what} on` : `Turn ${what} off`;
    button.querySelector("use").setAttribute("href", `#icon-${what}${devices.mute[kind] ? "-off" : ""}`);
  }
}

function showLabels() {
  const labels = client?.channels.writable ?? [];
  const select = element("label");
  const chosen = select.value;
  select.replaceChildren(...labels.map((label) => new Option(label)));
  if (labels.includes(chosen)) select.value = chosen;
  select.hidden = labels.length < 2;
  element("chat-form").hidden = labels.length === 0;
  element("chat").hidden = !(client?.channels.labels ?? []).some((label) => label.startsWith("#"));
  showEmpty();
}

// MARK: A call

async function connect(wanted) {
  sora.error = null;
  sora.counters = null;
  role = wanted;
  const wantsVideo = settings.isOn("video");
  const wantsAudio = settings.isOn("audio");
  if (!DOING[role]) return fail(`“${role}” is no role.`, "Use role=sendonly, recvonly or sendrecv in the address.");
  if (isTalking() && !settings.hasLabels) {
    return fail("Tick video or audio, or add a message label.", `Without them there is nothing to ${role === "recvonly" ? "receive" : "send"}.`);
  }
  const sends = role !== "recvonly" && !isTalking();
  if (sends && !navigator.mediaDevices) return fail(INSECURE, INSECURE_WAY);
  const { wrong } = settings;
  if (wrong) {
    fail(`The ${wrong.title} can't be read.`, wrong.problem);
    element("more").open = true;
    return wrong.field.focus();
  }
  devices.mute = { audio: false, video: false };
  keepAddress();
  show("connecting", "Connecting …");
  openSettings(false);
  if (sends) {
    try {
      await devices.open(wantsVideo, wantsAudio, settings.size);
    } catch (error) {
      return fail(...mediaProblem(error, wantsVideo, wantsAudio));
    }
    // Whoever stops meanwhile wants no call.
    if (sora.state !== "connecting") return devices.close();
    tiles.add(devices.stream, "you", true);
  }
  showMute();
  element("plots").replaceChildren();
  plots = new Plots(element("plots"));
  comeback = new Comeback();
  addresses = [signalingURL()];
  join(addresses[0]);
}

/** The call's first connection, or another after one was lost. */
function join(address) {
  statistics = new Statistics();
  client = new Client(address, settings.connect(role, devices.mute), devices.stream)
    .on("offer", () => {
      clearInterval(timer);
      timer = setInterval(updateStatistics, 1000);
    })
    .on("redirect", moved)
    .on("connected", () => {
      comeback.connected();
      describe();
      showPresence();
      if (devices.mute.audio || devices.mute.video) tellMute();
    })
    .on("track", ({ stream }) => {
      tiles.add(stream, people.name(stream.id), false, devices.speaker);
      showPresence();
    })
    .on("channel", showLabels)
    .on("notify", noticed)
    .on("push", (data) => {
      people.push(data);
      events.push(data, nameOf);
      showPresence();
    })
    .on("message", (message) => messages.add(message, message.sender ? nameOf(message.sender) : "someone"))
    .on("ended", ended);
}

/** Another server takes over. */
function moved(address) {
  if (!addresses.includes(address)) addresses.push(address);
  forgetOthers();
  statistics = new Statistics();
  show("connecting", "Connecting to another server …");
}

/** The connection is lost and the call isn't: what is sent and what was said stay. */
function lost(how) {
  clearInterval(timer);
  client = null;
  forgetOthers();
  showPresence();
  element("chat-form").hidden = true;
  show("reconnecting", `Reconnecting (${comeback.count}) …`, `${endProblem(how)[0]} Press Stop to give up.`);
}

/** Who is there is the next connection's matter. */
function forgetOthers() {
  for (const [id, tile] of tiles.all) if (!tile.isOwn) tiles.remove(id);
  people.clear();
  layers = new Map();
  sora.counters = null;
}

function nameOf(id) { return id === sora.connectionId ? "you" : people.name(id); }

function noticed(event) {
  const name = nameOf(event.connection_id ?? event.sender_connection_id ?? "");
  people.notify(event);
  if (event.event_type === "connection.destroyed") layers.delete(event.connection_id);
  if (event.event_type === "simulcast.switched" && event.sender_connection_id) {
    layers.set(event.sender_connection_id, { ...layers.get(event.sender_connection_id), current: event.current_rid });
  }
  // Who has left is known by their name no more.
  events.notify(event, event.event_type === "connection.destroyed" ? () => name : nameOf);
  if (event.channel_connections !== undefined) {
    sora.counters = event;
    if (client?.peer?.connectionState === "connected") describe();
  }
  showPresence();
}

/** Another layer of one sender: by RPC, or where the server has none by a connection that asks for it. */
async function askForLayer(sender, rid) {
  if (client?.offers(REQUEST_RID)) {
    layers.set(sender, { ...layers.get(sender), asked: rid });
    showPresence();
    await client.call(REQUEST_RID, { rid, sender_connection_id: sender }).catch(complain);
  } else if (client) {
    settings.set("rid", rid);
    const again = role;
    await client.leave();
    connect(again);
  }
}

async function askForSpotlight() {
  if (sora.state !== "connected" || !settings.isOn("spotlight")) return;
  const spotlight_focus_rid = settings.text("focus_rid") || "r1";
  const spotlight_unfocus_rid = settings.text("unfocus_rid") || "none";
  await client.call(REQUEST_SPOTLIGHT, { spotlight_focus_rid, spotlight_unfocus_rid }).catch(complain);
}

function setMute(kind, isMuted) {
  devices.setMute(kind, isMuted);
  showMute();
  showPresence();
  tellMute();
}

/** Others see black and hear nothing; that it is meant so is said by metadata. */
function tellMute() {
  if (client?.offers(PUT_ITEM)) client.call(PUT_ITEM, { key: "mute", value: devices.mute, push: true }).catch(complain);
}

async function deviceChosen(name) {
  if (name === "speaker") {
    for (const tile of tiles.all.values()) tile.speak(devices.speaker);
    return;
  }
  const kind = name === "camera" ? "video" : "audio";
  try {
    const track = await devices.swap(kind, settings.size);
    if (track) await client?.replace(track);
  } catch (error) {
    complain(new Error(mediaProblem(error, kind === "video", kind === "audio").join(" ")));
  }
}

async function updateStatistics() {
  const peer = client?.peer;
  const report = await peer?.getStats().catch(() => null);
  if (!report || peer !== client?.peer) return;
  const streams = new Map([...tiles.all].map(([id, tile]) => [id, tile.stream]));
  const sample = statistics.sample(report, streams);
  for (const [id, tile] of tiles.all) tile.showSample(sample.streams.get(id) ?? null);
  plots.add(sample.total, [...tiles.all.values()]);
}

// MARK: Its end

function ended(how) {
  if (how.left) return finish("Not connected.");
  if (how.code === 1000) return finish(`The server ended the connection. ${how.reason}`);
  if (comeback.follows(how, () => join(addresses[(comeback.count - 1) % addresses.length]))) return lost(how);
  fail(...endProblem(how));
}

function tearDown() {
  clearInterval(timer);
  comeback.stop();
  client = null;
  devices.close();
  tiles.clear();
  people.clear();
  layers = new Map();
  messages.clear();
  events.clear();
  element("notice").hidden = true;
}

function finish(text) {
  tearDown();
  show("idle", text);
}

function fail(text, advice) {
  sora.error = [text, advice].filter(Boolean).join(" ");
  tearDown();
  show("error", text, advice);
}

/** Something didn't work, and the call goes on. */
function complain(error) {
  notice(error.message);
}

function notice(text) {
  element("notice").textContent = text;
  element("notice").hidden = false;
}

// MARK: The page's own things

function keepAddress() {
  const link = settings.link(location.href);
  // What came with the address stays in it; a token that was typed doesn't get there.
  for (const key of ["role", "access_token", "name"]) if (query.has(key)) link.searchParams.set(key, query.get(key));
  history.replaceState(null, "", link);
}

async function copyLink() {
  const link = settings.link(location.href).href;
  const button = element("share");
  try {
    await navigator.clipboard.writeText(link);
  } catch {
    // Plain http from elsewhere has no clipboard.
    const field = element("link");
    field.value = link;
    field.hidden = false;
    field.select();
    field.hidden = document.execCommand("copy");
  }
  button.querySelector("span").textContent = element("link").hidden ? "Link copied" : "Copy it from here";
  setTimeout(() => { button.querySelector("span").textContent = "Copy link"; }, 2000);
}

function prepare() {
  // A codec that this browser can neither send nor receive isn't offered for choice.
  for (const [id, kind] of [["codec", "video"], ["audio_codec", "audio"]]) {
    const known = new Set([RTCRtpSender, RTCRtpReceiver].flatMap((side) => side.getCapabilities(kind).codecs.map((one) => one.mimeType.toUpperCase())));
    for (const option of [...element(id).options]) if (!known.has(`${kind}/${option.value}`.toUpperCase())) option.remove();
  }
  settings.read(query);
  for (const button of document.querySelectorAll("button[data-role]")) {
    button.onclick = () => { if (element("form").reportValidity()) connect(button.dataset.role); };
  }
  element("form").onsubmit = (event) => event.preventDefault();
  element("chat-form").onsubmit = (event) => {
    event.preventDefault();
    const field = element("message");
    const label = element("label").value;
    if (!field.value || !client?.channels.isOpen(label)) return;
    const text = field.value;
    field.value = "";
    client.channels.send(label, text).then(
      () => messages.add({ label, bytes: new TextEncoder().encode(text), isOwn: true }, "you"),
      (error) => notice(`The message can't be sent: ${error.message}`));
  };
  element("stop").onclick = () => (client ? client.leave() : finish("Not connected."));
  element("settings").onclick = () => openSettings(element("form").hidden);
  element("share").onclick = copyLink;
  element("add-label").onclick = () => settings.addLabel("sendrecv:#").querySelector("input").focus();
  element("mute-audio").onclick = () => setMute("audio", !devices.mute.audio);
  element("mute-video").onclick = () => setMute("video", !devices.mute.video);
  for (const id of ["focus_rid", "unfocus_rid"]) element(id).onchange = askForSpotlight;
  element("channel").oninput = showEmpty;
  document.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const button = { m: "mute-audio", v: "mute-video" }[event.key];
    if (button && sora.state === "connected" && !element(button).hidden) element(button).click();
  };
  if (!navigator.mediaDevices) notice(`${INSECURE} Here, on plain http, this page can watch.`);
  show("idle", "Not connected.");
}

prepare();
// With a role the address connects at once.
if (query.has("role")) connect(query.get("role"));
