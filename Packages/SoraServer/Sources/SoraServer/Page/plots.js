import { count } from "./words.js";

const SECONDS = 60;
const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 40;

/** The next 1, 2, 3 or 5 times a power of ten. */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 3, 5, 10].map((step) => step * power).find((step) => step >= value);
}

/** One small plot of the last minute: a line for each stream, in that stream's colour. */
class Plot {
  element = document.createElement("div");
  #lines = new Map();
  #svg = document.createElementNS(SVG, "svg");
  #value = document.createElement("span");
  #top = document.createElement("span");
  #name;
  #least;
  #unit;

  constructor(name, least, unit) {
    this.#name = name;
    this.#least = least;
    this.#unit = unit;
    this.element.className = "plot";
    const head = document.createElement("p");
    const title = document.createElement("span");
    title.textContent = name;
    this.#value.className = "value";
    head.append(title, this.#value);
    this.#svg.setAttribute("viewBox", `0 0 ${SECONDS} ${HEIGHT}`);
    this.#svg.setAttribute("preserveAspectRatio", "none");
    this.#svg.setAttribute("role", "img");
    for (const y of [0.5, HEIGHT / 2, HEIGHT - 0.5]) {
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("d", `M0 ${y}H${SECONDS}`);
      line.setAttribute("class", "grid");
      this.#svg.append(line);
    }
    this.#top.className = "top";
    this.element.append(head, this.#svg, this.#top);
  }

  /** `values`: a number or null a stream, with its colour. Streams that aren't named any more move out to the left. */
  add(values) {
    for (const line of this.#lines.values()) line.next = null;
    for (const [key, { value, colour }] of values) {
      let line = this.#lines.get(key);
      if (!line) {
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("class", `line colour-${colour}`);
        this.#svg.append(path);
        line = { path, values: [] };
        this.#lines.set(key, line);
      }
      line.next = value;
    }
    let highest = this.#least;
    for (const [key, line] of this.#lines) {
      line.values.push(line.next);
      if (line.values.length > SECONDS + 1) line.values.shift();
      const known = line.values.filter((value) => value !== null);
      if (known.length) highest = Math.max(highest, ...known);
      else if (!values.some(([one]) => one === key)) {
        line.path.remove();
        this.#lines.delete(key);
      }
    }
    const top = ceiling(highest);
    for (const line of this.#lines.values()) line.path.setAttribute("d", this.#draw(line.values, top));
    this.#top.textContent = `${count(top, 1)} ${this.#unit}`;
    const now = values.filter(([, { value }]) => value !== null);
    this.#value.replaceChildren(...now.map(([, { value, colour }]) => {
      const number = document.createElement("span");
      number.className = `colour-${colour}`;
      number.textContent = count(value, value < 10 ? 1 : 0);
      return number;
    }), now.length ? this.#unit : "–");
    this.#svg.setAttribute("aria-label", `${this.#name}, last minute; now ${now.map(([, { value }]) => count(value)).join(", ")} ${this.#unit}`);
  }

  #draw(values, top) {
    let path = "";
    let isDrawing = false;
    values.forEach((value, index) => {
      if (value === null) return (isDrawing = false);
      const x = SECONDS - (values.length - 1 - index);
      const y = HEIGHT - 1 - (Math.max(0, value) / top) * (HEIGHT - 3);
      path += `${isDrawing ? "L" : "M"}${x} ${y.toFixed(1)}`;
      isDrawing = true;
    });
    return path;
  }
}

/** The plots of a call. */
export class Plots {
  #plots = {
    kbps: new Plot("Bit rate", 100, "kbit/s"), fps: new Plot("Frame rate", 30, "fps"), rtt: new Plot("Round trip", 5, "ms"),
    loss: new Plot("Loss", 1, "%"), jitter: new Plot("Jitter", 10, "ms"),
  };
  #box;

  constructor(box) {
    this.#box = box;
  }

  /** `tiles`: those with a sample have a line. */
  add(total, tiles) {
    const lines = (key) => tiles.filter((tile) => tile.sample).map((tile) => [tile.id, { value: tile.sample[key], colour: tile.colour }]);
    for (const key of ["kbps", "fps", "loss", "jitter"]) this.#plots[key].add(lines(key));
    this.#plots.rtt.add([["connection", { value: total.rtt, colour: 0 }]]);
    if (!this.#box.childElementCount) this.#box.append(...Object.values(this.#plots).map((plot) => plot.element));
  }
}
