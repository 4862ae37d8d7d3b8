import { eventWords, short } from "./words.js";

// Older lines go: a page may stay open for days.
const MOST = 200;

function part(tag, className, text, title) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.textContent = text;
  if (title) element.title = title;
  return element;
}

function clock() {
  return new Date().toLocaleTimeString("en-GB");
}

function append(list, entries, line, entry) {
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.append(line);
  entries.push(entry);
  while (entries.length > MOST) {
    entries.shift();
    list.firstChild.remove();
  }
  if (isAtEnd) list.scrollTop = list.scrollHeight;
}

/** Bytes as text where they are text, else in hexadecimal digits. */
function readable(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const digits = [...bytes.subarray(0, 32)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    return `${bytes.length} bytes: ${digits}${bytes.length > 32 ? " …" : ""}`;
  }
}

/** The channel's messages, with the header that the server put before each where its label has one. */
export class Messages {
  all = [];
  #list;

  constructor(list) {
    this.#list = list;
  }

  add({ label, sender, bytes, isOwn }, name) {
    const text = readable(bytes);
    const line = document.createElement("li");
    line.append(part("time", "", clock()), part("b", "", name), part("span", "chip", label), part("span", "text", text));
    if (sender && !isOwn) line.append(part("code", "header", sender, "The 26 bytes that the server put before the message: who sent it"));
    append(this.#list, this.all, line, { label, from: sender, text, isOwn });
  }

  clear() {
    this.all = [];
    this.#list.replaceChildren();
  }
}

/** Notifications and pushes, in words, with the whole of each under it. */
export class Events {
  all = [];
  #list;

  constructor(list) {
    this.#list = list;
  }

  notify(event, name) {
    const subject = event.connection_id ?? event.sender_connection_id;
    this.#add(subject ? name(subject) : "", eventWords(event), event);
  }

  push(data, name) {
    const words = data?.action === "PutMetadataItem" ? `told of ${data.key}` : "push";
    this.#add(data?.connection_id ? name(data.connection_id) : "", words, data);
  }

  #add(who, words, whole) {
    const line = document.createElement("li");
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.append(part("time", "", clock()), part("b", "", who), words);
    details.append(summary, part("pre", "", JSON.stringify(whole, null, 1)));
    line.append(details);
    append(this.#list, this.all, line, whole);
  }

  clear() {
    this.all = [];
    this.#list.replaceChildren();
  }
}

/** Those who are in the channel. */
export function showPeople(list, people, own) {
  list.replaceChildren(...people.all.map((member) => {
    const line = document.createElement("li");
    line.append(part("b", "", people.name(member.id), member.id));
    if (member.id === own) line.append(part("span", "chip", "you"));
    else if (people.name(member.id) !== short(member.id)) line.append(part("span", "quiet", short(member.id), member.id));
    if (member.role) line.append(part("span", "quiet", member.role));
    if (member.isFocused) line.append(part("span", "chip spot", "spotlight"));
    for (const [kind, what] of [["audio", "microphone off"], ["video", "camera off"]]) {
      if (people.isMuted(member.id, kind)) line.append(part("span", "chip", what));
    }
    const rest = people.rest(member.id);
    if (rest) line.append(part("code", "", JSON.stringify(rest)));
    return line;
  }));
}
