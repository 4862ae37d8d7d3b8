// What a call is made with: the form's fields, the page's address, and the `connect` that follows from both.

const SENDER_HEADER = [{ type: "sender_connection_id" }];
// Secrets don't go into links, and an own name isn't a friend's.
const PRIVATE = new Set(["access_token", "name"]);

function isObject(value) { return typeof value === "object" && value !== null && !Array.isArray(value); }

// Fields of JSON: what they must hold, and how that is said.
const JSON_FIELDS = {
  metadata: { title: "metadata", holds: isObject, like: 'An object is wanted, like {"seat": 3}.' },
  forwarding_filters: {
    title: "forwarding filters", holds: (value) => Array.isArray(value) && value.every((one) => isObject(one) && isRules(one.rules)),
    like: "A list of filters is wanted, each an object with rules: a list of lists, as in the example.",
  },
};

function isRules(value) { return Array.isArray(value) && value.every((all) => Array.isArray(all) && all.every(isObject)); }

/** An app's label as it stands in a link, as "sendrecv+header:#chat", and as a row of the form. */
class LabelRow {
  static FLAGS = { header: "sender's id", compress: "zlib", unordered: "unordered" };
  element;

  constructor(template, text, removed) {
    this.element = template.content.firstElementChild.cloneNode(true);
    const [, direction, flags, label] = /^(sendrecv|sendonly|recvonly)((?:\+\w+)*):(.*)$/su.exec(text) ?? [null, "sendrecv", "", text];
    this.#field("label").value = label;
    this.#field("direction").value = direction;
    for (const flag of Object.keys(LabelRow.FLAGS)) this.#field(flag).checked = flags.split("+").includes(flag);
    this.element.querySelector("button").onclick = () => {
      this.element.remove();
      removed(this);
    };
  }

  #field(name) { return this.element.querySelector(`[data-field=${name}]`); }
  #has(flag) { return this.#field(flag).checked; }
  get label() { return this.#field("label").value.trim(); }

  get text() {
    const flags = Object.keys(LabelRow.FLAGS).filter((flag) => this.#has(flag));
    return `${[this.#field("direction").value, ...flags].join("+")}:${this.label}`;
  }

  get dataChannel() {
    return {
      label: this.label, direction: this.#field("direction").value, compress: this.#has("compress") || undefined,
      ordered: this.#has("unordered") ? false : undefined, header: this.#has("header") ? SENDER_HEADER : undefined,
    };
  }
}

export class Settings {
  static CHAT = "sendrecv+header:#chat";
  #form;
  #rows = [];
  #labels;
  #template;

  constructor(form, labels, template) {
    this.#form = form;
    this.#labels = labels;
    this.#template = template;
    for (const name of Object.keys(JSON_FIELDS)) this.#field(name).addEventListener("input", () => this.#tell(name));
  }

  #field(name) { return this.#form.elements.namedItem(name); }
  text(name) { return this.#field(name).value.trim(); }
  isOn(name) { return this.#field(name).checked; }
  #number(name) { return this.text(name) === "" ? undefined : Number(this.text(name)); }
  #choice(name) { return this.text(name) || undefined; }
  set(name, value) { this.#field(name).value = value; }

  get channel() { return this.text("channel"); }
  get hasLabels() { return this.#labelled.length > 0; }
  get #labelled() { return this.#rows.filter((row) => row.label); }
  get #fields() { return [...this.#form.elements].filter((field) => field.name); }

  addLabel(text) {
    const row = new LabelRow(this.#template, text, (gone) => { this.#rows = this.#rows.filter((one) => one !== gone); });
    this.#rows.push(row);
    this.#labels.append(row.element);
    return row.element;
  }

  /** Takes over what an address says; what it doesn't name stays. */
  read(query) {
    for (const field of this.#fields) {
      if (!query.has(field.name)) continue;
      const value = query.get(field.name);
      if (field.type === "checkbox") field.checked = value !== "0";
      else if (field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value)) field.value = value;
    }
    for (const text of query.has("label") ? query.getAll("label").filter(Boolean) : [Settings.CHAT]) this.addLabel(text);
  }

  /** The page's address with all that isn't as it is by itself. */
  link(base) {
    const link = new URL(base);
    link.search = link.hash = "";
    const query = link.searchParams;
    query.set("channel", this.channel);
    for (const field of this.#fields) {
      if (field.name === "channel" || PRIVATE.has(field.name)) continue;
      if (field.type === "checkbox") {
        if (field.checked !== field.defaultChecked) query.set(field.name, field.checked ? "1" : "0");
      } else if (field.tagName === "SELECT") {
        if (!(field.selectedOptions[0]?.defaultSelected ?? true)) query.set(field.name, field.value);
      } else if (field.value.trim() !== field.defaultValue) query.set(field.name, field.value.trim());
    }
    const labels = this.#labelled.map((row) => row.text);
    if (labels.join("\n") !== Settings.CHAT) for (const text of labels.length ? labels : [""]) query.append("label", text);
    return link;
  }

  get size() {
    const [width, height] = this.text("size").split("x").map(Number);
    return { width, height, frameRate: Number(this.text("fps")) };
  }

  /** What a field of JSON holds, undefined where it is empty, or what is wrong with it. */
  #json(name) {
    const text = this.text(name);
    if (!text) return {};
    try {
      const value = JSON.parse(text);
      return JSON_FIELDS[name].holds(value) ? { value } : { problem: JSON_FIELDS[name].like };
    } catch (error) {
      return { problem: `This isn't JSON: ${error.message}.` };
    }
  }

  /** Says under a field of JSON what is wrong with it; that, or undefined. */
  #tell(name) {
    const { problem } = this.#json(name);
    const note = document.getElementById(`${name}-problem`);
    note.textContent = problem ?? "";
    note.hidden = !problem;
    this.#field(name).setAttribute("aria-invalid", String(Boolean(problem)));
    return problem;
  }

  /** The first field of JSON that is wrong, what it is called and why; null where all are well. Each is told so. */
  get wrong() {
    const [first] = Object.entries(JSON_FIELDS).map(([name, { title }]) => ({ field: this.#field(name), title, problem: this.#tell(name) }))
      .filter((one) => one.problem);
    return first ?? null;
  }

  /** What others are told of this client. */
  #notifyMetadata(mute) {
    const metadata = { ...this.#json("metadata").value };
    if (this.text("name")) metadata.name = this.text("name");
    if (mute.audio || mute.video) metadata.mute = mute;
    if (this.isOn("simulcast")) metadata.simulcast = true;
    return Object.keys(metadata).length ? metadata : undefined;
  }

  /** The first message, of fields of which none is wrong. */
  connect(role, mute) {
    const spotlight = this.isOn("spotlight");
    const token = this.text("access_token");
    return {
      type: "connect", role, channel_id: this.channel, sora_client: "Sora development page", environment: navigator.userAgent,
      data_channel_signaling: true, ignore_disconnect_websocket: !this.isOn("websocket"),
      metadata: token ? { access_token: token } : undefined, signaling_notify_metadata: this.#notifyMetadata(mute),
      forwarding_filters: this.#json("forwarding_filters").value, data_channels: this.#labelled.map((row) => row.dataChannel),
      audio: this.isOn("audio") && { codec_type: this.text("audio_codec"), bit_rate: this.#number("audio_bit_rate") },
      video: this.isOn("video") && { codec_type: this.text("codec"), bit_rate: this.#number("bit_rate") },
      simulcast: this.isOn("simulcast") || undefined, simulcast_request_rid: this.#choice("rid"),
      spotlight: spotlight || undefined, spotlight_number: spotlight ? this.#number("spotlight_number") : undefined,
      spotlight_focus_rid: spotlight ? this.#choice("focus_rid") : undefined,
      spotlight_unfocus_rid: spotlight ? this.#choice("unfocus_rid") : undefined,
    };
  }
}
