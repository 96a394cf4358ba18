// @ts-check
// Signals over place (across) and time (down) on a canvas. Colour is never the only sign: a jam is hatched, what is not a
// frame has its name, and a collision has a ring.

/** @typedef {{source: number, frame: string, what: string, begin: number,
 *   collided: number | null, parts: [string, number, number][], there: ([number, number] | null)[]}} Signal */
/** @typedef {{from: number, to: number, now: number, signals: Signal[], shape: string, order: number[], lanes: number[], places: number[],
 *   followed: string | null, grid: number}} View */

const FILLS = { preamble: "--preamble", frame: "--frame", jam: "--jam", extension: "--extension" };
const NAMED = new Set(["RTS", "CTS", "ACK", "BEACON", "COMMIT"]);
const LEFT = 74;
const RIGHT = 18;
/** From the ends of a cable to those of its room. */
const MARGIN = 20;

export class Picture {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** @type {View | null} */
    this.view = null;
    /** How wide names are. @type {Map<string, number>} */
    this.widths = new Map();
    this.colours();
  }

  /** Reads the colours that the style gives now: light, dark or paper. */
  colours() {
    const style = getComputedStyle(this.canvas);
    /** @param {string} name */
    this.colour = (name) => style.getPropertyValue(name).trim();
    this.palette = Object.fromEntries(["--preamble", "--frame", "--jam", "--extension", "--other", "--ink", "--faint", "--line", "--paper", "--mark"]
      .map((name) => [name, this.colour(name)]));
    this.hatch = hatch(this.palette["--paper"]);
  }

  /** Where a station is, in pixels. @param {number} station */
  across(station) {
    const { places, shape, lanes } = /** @type {View} */ (this.view);
    const width = this.width - LEFT - RIGHT;
    if (shape === "cable") return this.along(places[station]);
    return LEFT + ((lanes.indexOf(station) + 0.5) / lanes.length) * width;
  }

  /** Where a part of the cable ends, in pixels. @param {number} part */
  along(part) {
    return LEFT + MARGIN + part * this.cable();
  }

  /** The part of the cable up to there; not below 0 nor above 1. @param {number} x in pixels */
  part(x) {
    return Math.min(1, Math.max(0, (x - this.along(0)) / this.cable()));
  }

  cable() {
    return this.width - LEFT - RIGHT - 2 * MARGIN;
  }

  /** Where an instant is, in pixels. @param {number} at */
  down(at) {
    const { from, to } = /** @type {View} */ (this.view);
    return ((at - from) / (to - from)) * this.height;
  }

  fit() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    this.width = clientWidth;
    this.height = clientHeight;
    if (this.canvas.width !== Math.round(clientWidth * ratio)) this.canvas.width = Math.round(clientWidth * ratio);
    if (this.canvas.height !== Math.round(clientHeight * ratio)) this.canvas.height = Math.round(clientHeight * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /** @param {View} view */
  draw(view) {
    this.view = view;
    this.fit();
    const { context } = this;
    context.clearRect(0, 0, this.width, this.height);
    this.axis();
    this.lanes();
    const seen = this.down(view.now);
    this.half(0, seen, 1, view.signals.filter((one) => one.begin <= view.now));
    this.half(seen, this.height, 0.22, view.signals.filter((one) => one.there.some((at) => at && at[1] > view.now)));
    this.playhead(seen);
  }

  /** What has happened, or what will. @param {number} from @param {number} to @param {number} alpha @param {Signal[]} signals */
  half(from, to, alpha, signals) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(0, from, this.width, to - from);
    context.clip();
    context.globalAlpha = alpha;
    this.signals(signals, alpha === 1);
    context.restore();
  }

  axis() {
    const { context } = this;
    const { from, to, grid } = /** @type {View} */ (this.view);
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.lineWidth = 1;
    context.strokeStyle = this.palette["--line"];
    context.fillStyle = this.palette["--faint"];
    for (let at = Math.ceil(from / grid) * grid; at < to; at += grid) {
      const y = Math.round(this.down(at)) + 0.5;
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(this.width, y);
      context.stroke();
      if (y > 8 && y < this.height - 8) context.fillText(at.toLocaleString("en"), LEFT - 8, y);
    }
  }

  lanes() {
    const { context } = this;
    context.strokeStyle = this.palette["--line"];
    context.lineWidth = 1.5;
    for (const station of /** @type {View} */ (this.view).lanes) {
      const x = this.across(station);
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, this.height);
      context.stroke();
    }
  }

  /** @param {Signal[]} signals @param {boolean} isWhole with rings and names */
  signals(signals, isWhole) {
    const { followed } = /** @type {View} */ (this.view);
    for (const signal of signals) {
      for (const part of signal.parts) this.fill(signal, part);
      if (followed === signal.frame) this.outline(signal);
    }
    if (!isWhole) return;
    this.names = [];
    for (const signal of signals) this.name(signal);
    for (const signal of signals) this.ring(signal);
  }

  /** The outline of a part: [from, to] at the sender, at each place as much later as the signal gets there.
   * @param {Signal} signal @param {number} from @param {number} to @returns {Path2D} */
  shape(signal, from, to) {
    const path = new Path2D();
    const { lanes, shape } = /** @type {View} */ (this.view);
    if (shape === "cable") return this.band(path, signal, from, to);
    const half = Math.min(26, ((this.width - LEFT - RIGHT) / lanes.length) * 0.36);
    for (const station of lanes) {
      const there = signal.there[station];
      const own = station === signal.source;
      if (!there || (shape === "senders" && !own)) continue;
      const late = there[0] - signal.begin;
      const [x, y] = [this.across(station), this.down(from + late)];
      const wide = own ? half : half * 0.62;
      path.rect(x - wide, y, 2 * wide, Math.max(1, this.down(to + late) - y));
    }
    return path;
  }

  /** Whether a station has a place in the picture. @param {number} station */
  shows(station) {
    const { lanes, shape } = /** @type {View} */ (this.view);
    return shape === "cable" || lanes.includes(station);
  }

  /** A parallelogram to each side of the sender. @param {Path2D} path @param {Signal} signal @param {number} from @param {number} to */
  band(path, signal, from, to) {
    const { order } = /** @type {View} */ (this.view);
    const reached = order.filter((station) => signal.there[station]);
    /** @param {number} station */
    const late = (station) => /** @type {[number, number]} */ (signal.there[station])[0] - signal.begin;
    const along = reached.map((station) => [this.across(station), late(station)]);
    if (along.length === 0) return path;
    const wide = 12;
    const ends = [[along[0][0] - wide, along[0][1]], ...along, [along[along.length - 1][0] + wide, along[along.length - 1][1]]];
    ends.forEach(([x, after], place) => (place ? path.lineTo(x, this.down(from + after)) : path.moveTo(x, this.down(from + after))));
    ends.reverse().forEach(([x, after]) => path.lineTo(x, this.down(to + after)));
    path.closePath();
    return path;
  }

  /** @param {Signal} signal @param {[string, number, number]} part */
  fill(signal, [name, from, to]) {
    const { context } = this;
    const path = this.shape(signal, from, to);
    context.save();
    context.globalAlpha *= 0.72;
    context.fillStyle = this.palette[/** @type {Record<string, string>} */ (FILLS)[name] ?? "--other"];
    context.fill(path);
    context.restore();
    if (name === "jam") {
      context.fillStyle = this.hatch;
      context.fill(path);
    }
  }

  /** @param {Signal} signal */
  outline(signal) {
    const [from, to] = [signal.parts[0]?.[1] ?? signal.begin, signal.parts.at(-1)?.[2] ?? signal.begin];
    this.context.strokeStyle = this.palette["--ink"];
    this.context.lineWidth = 2;
    this.context.stroke(this.shape(signal, from, to));
  }

  /** The name beside the first bit, unless another name is there. @param {Signal} signal */
  name(signal) {
    const { context } = this;
    if (!this.shows(signal.source)) return;
    const text = NAMED.has(signal.what) ? signal.what : signal.frame;
    const [x, y] = [this.across(signal.source) + 6, this.down(signal.begin) + 10];
    context.font = "600 12px system-ui, sans-serif";
    context.textAlign = "left";
    const width = this.widths.get(text) ?? context.measureText(text).width + 8;
    this.widths.set(text, width);
    const left = x + width < this.width ? x : x - width - 12;
    const box = { left, top: y - 9, right: left + width, bottom: y + 9 };
    const end = this.down(signal.parts.at(-1)?.[2] ?? signal.begin);
    const isShort = end - this.down(signal.begin) < 20 && !NAMED.has(signal.what);
    if (y < 10 || isShort || this.names?.some((other) => meets(other, box))) return;
    this.names?.push(box);
    context.fillStyle = this.palette["--paper"];
    context.globalAlpha = 0.82;
    context.fillRect(left, y - 8, width, 16);
    context.globalAlpha = 1;
    context.fillStyle = this.palette["--ink"];
    context.fillText(text, left + 4, y + 0.5);
  }

  /** A collision, where and when its sender notices it. @param {Signal} signal */
  ring(signal) {
    if (signal.collided === null || !this.shows(signal.source)) return;
    const { context } = this;
    const [x, y] = [this.across(signal.source), this.down(signal.collided)];
    for (const [wide, colour] of /** @type {[number, string][]} */ ([[5, "--paper"], [2.5, "--mark"]])) {
      context.lineWidth = wide;
      context.strokeStyle = this.palette[colour];
      context.beginPath();
      context.arc(x, y, 8, 0, 2 * Math.PI);
      context.moveTo(x - 4, y - 4);
      context.lineTo(x + 4, y + 4);
      context.moveTo(x + 4, y - 4);
      context.lineTo(x - 4, y + 4);
      context.stroke();
    }
  }

  /** @param {number} y */
  playhead(y) {
    const { context } = this;
    context.strokeStyle = this.palette["--ink"];
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(LEFT - 4, y);
    context.lineTo(this.width, y);
    context.stroke();
  }

  /** The signal at a place of the canvas. @param {number} x @param {number} y @returns {Signal | undefined} */
  at(x, y) {
    const ratio = window.devicePixelRatio || 1;
    const { signals = [] } = this.view ?? {};
    return [...signals].reverse().find((signal) => {
      const [from, to] = [signal.parts[0]?.[1] ?? signal.begin, signal.parts.at(-1)?.[2] ?? signal.begin];
      return this.context.isPointInPath(this.shape(signal, from, to), x * ratio, y * ratio);
    });
  }
}

/** @param {{left: number, top: number, right: number, bottom: number}} one @param {{left: number, top: number, right: number, bottom: number}} other */
function meets(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** Slanted lines. @param {string} colour */
function hatch(colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const context = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  context.strokeStyle = colour;
  context.lineWidth = 2;
  for (const shift of [-8, 0, 8]) {
    context.beginPath();
    context.moveTo(shift, 8);
    context.lineTo(shift + 8, 0);
    context.stroke();
  }
  return /** @type {CanvasPattern} */ (context.createPattern(tile, "repeat"));
}
