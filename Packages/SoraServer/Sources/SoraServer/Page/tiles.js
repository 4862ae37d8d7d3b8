import { count, rate } from "./words.js";

const COLOURS = 6;
const RIDS = ["r2", "r1", "r0", "none"];
const RID_NAMES = { r2: "high", r1: "middle", r0: "low", none: "off" };
// RFC 6464's levels go down to silence; getStats' are linear.
const SPEECH = 0.02;

function part(tag, className) {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}

/** One stream: its picture, who sends it, numbers, and the layer that is asked for. */
class Tile {
  figure = part("figure", "card tile");
  video = document.createElement("video");
  sample = null;
  #screen = part("div", "screen");
  #cover = part("div", "cover");
  #badges = part("div", "badges");
  #name = part("span", "name");
  #numbers = part("span", "numbers");
  #layers = part("div", "layers");
  #sent = part("ul", "sent");
  #canAsk = false;

  constructor(stream, { name, colour, isOwn, onLayer }) {
    this.stream = stream;
    this.id = stream.id;
    this.name = name;
    this.colour = colour;
    this.isOwn = isOwn;
    this.figure.dataset.stream = stream.id;
    Object.assign(this.video, { autoplay: true, playsInline: true, muted: isOwn, controls: !isOwn });
    this.#cover.hidden = this.#layers.hidden = this.#sent.hidden = true;
    this.#screen.append(this.video, this.#cover, this.#badges);
    const caption = document.createElement("figcaption");
    caption.title = `stream ${stream.id}`;
    caption.append(part("i", `dot colour-${colour}`), this.#name, this.#numbers);
    this.#layers.setAttribute("role", "group");
    for (const rid of RIDS) {
      const button = part("button", "small");
      button.type = "button";
      button.dataset.rid = rid;
      button.textContent = rid === "none" ? "off" : rid;
      button.title = `Ask for the ${RID_NAMES[rid]} layer`;
      button.onclick = () => onLayer(this, rid);
      this.#layers.append(button);
    }
    this.figure.append(this.#screen, caption, this.#layers, this.#sent);
    this.rename(name);
    this.showLayer(null, null);
  }

  rename(name) {
    this.name = name;
    this.#name.textContent = name;
    this.video.setAttribute("aria-label", `Video of ${name}`);
    this.#layers.setAttribute("aria-label", `Layer of ${name}`);
  }

  async play(speaker) {
    // Both tracks of a stream come here; the element follows its stream by itself.
    if (this.video.srcObject === this.stream) return;
    this.video.srcObject = this.stream;
    this.speak(speaker);
    try {
      await this.video.play();
    } catch (error) {
      // Browsers refuse sound before the user touched the page: then picture first, and sound with the controls.
      if (error.name !== "NotAllowedError") return;
      this.video.muted = true;
      this.video.play().catch(() => {});
    }
  }

  /** The loudspeaker; "" for the system's. */
  speak(speaker) {
    if (!this.isOwn && this.video.setSinkId && this.video.sinkId !== speaker) this.video.setSinkId(speaker).catch(() => {});
  }

  showState({ isFocused, isSilent, cover }) {
    this.figure.classList.toggle("focused", isFocused);
    this.#cover.hidden = !cover;
    this.#cover.textContent = cover ?? "";
    const badges = [[isFocused, "spotlight"], [isSilent, "microphone off"]].filter(([is]) => is);
    this.#badges.replaceChildren(...badges.map(([, text]) => {
      const badge = part("span", text === "spotlight" ? "badge spot" : "badge");
      badge.textContent = text;
      return badge;
    }));
  }

  /** Whether another layer of this stream can be asked for. */
  set canAsk(can) {
    this.#canAsk = can;
    this.#layers.hidden = !can || this.isOwn;
  }

  /** The layer that is asked for, and the one that comes; null where that isn't known. */
  showLayer(asked, current) {
    for (const button of this.#layers.children) {
      button.setAttribute("aria-pressed", String(button.dataset.rid === asked));
      button.classList.toggle("current", button.dataset.rid === current);
    }
  }

  showSample(sample) {
    this.sample = sample;
    // What is sent may be smaller than what the camera gives: the link decides.
    const [width, height] = sample?.width ? [sample.width, sample.height] : [this.video.videoWidth, this.video.videoHeight];
    this.#numbers.textContent = [
      width && `${width}×${height}`, sample?.fps && `${count(sample.fps)} fps`, sample?.videoKbps && rate(sample.videoKbps),
      sample?.codec ?? sample?.audioCodec,
    ].filter(Boolean).join(" · ");
    this.#numbers.title = [sample?.by, sample?.freezes && `${sample.freezes} freezes`, sample?.limited && `limited by ${sample.limited}`]
      .filter(Boolean).join(", ");
    this.figure.classList.toggle("speaking", (sample?.level ?? 0) > SPEECH);
    const layers = this.isOwn ? sample?.layers ?? [] : [];
    this.#sent.hidden = layers.length === 0;
    this.#sent.replaceChildren(...layers.map((layer) => {
      const line = document.createElement("li");
      line.append(Object.assign(document.createElement("b"), { textContent: layer.rid }));
      line.append(layer.fps ? ` ${layer.width}×${layer.height} · ${count(layer.fps)} fps · ${rate(layer.kbps ?? 0)}` : " not sent");
      return line;
    }));
  }

  remove() {
    this.video.srcObject = null;
    this.figure.remove();
  }
}

/** All tiles, by their streams' ids. */
export class Tiles {
  all = new Map();
  #box;
  #onLayer;
  #changed;

  constructor(box, onLayer, changed) {
    this.#box = box;
    this.#onLayer = onLayer;
    this.#changed = changed;
  }

  #freeColour() {
    const used = [...this.all.values()].map((tile) => tile.colour);
    const free = [...Array(COLOURS).keys()].find((colour) => !used.includes(colour));
    return free ?? this.all.size % COLOURS;
  }

  add(stream, name, isOwn, speaker) {
    let tile = this.all.get(stream.id);
    if (!tile) {
      tile = new Tile(stream, { name, colour: this.#freeColour(), isOwn, onLayer: this.#onLayer });
      this.all.set(stream.id, tile);
      this.#box.append(tile.figure);
      if (!isOwn) stream.addEventListener("removetrack", () => { if (stream.getTracks().length === 0) this.remove(stream.id); });
      this.#changed();
    }
    tile.play(speaker);
    return tile;
  }

  remove(id) {
    this.all.get(id)?.remove();
    if (this.all.delete(id)) this.#changed();
  }

  clear() {
    for (const id of [...this.all.keys()]) this.remove(id);
  }
}
