// @ts-check
// One run and one instant of it: picture, sentences, figures. Time is a place in the run.

import { Picture } from "./picture.js";
import { chart, escaped, point, short, tiled } from "./charts.js";

/** Rows that are shown at most. */
const ROWS = 14;
/** How much of a window goes by in a second. */
const PACE = 0.16;
/** More stations than these have no names over their lanes. */
const DENSE = 16;
/** Nor if one has less than this, in pixels. */
const NARROW = 44;

export const grouped = (/** @type {number} */ number) => Math.round(number).toLocaleString("en");
/** @param {number} span */
const within = (span) => Math.min(2 ** 18, Math.max(2 ** 7, span));

export class Bench {
  /** @param {HTMLElement} root what it goes into @param {{ask: (question: object) => any}} engine
   * @param {{move?: (station: number, part: number) => void, parts?: () => number[], changed?: (bench: Bench) => void}} hooks */
  constructor(root, engine, hooks = {}) {
    const parts = /** @type {HTMLTemplateElement} */ (document.getElementById("bench-parts"));
    root.append(parts.content.cloneNode(true));
    this.root = root;
    this.engine = engine;
    this.hooks = hooks;
    this.picture = new Picture(/** @type {any} */ (this.$(".picture")));
    this.state = {
      about: /** @type {any} */ (null), places: /** @type {number[]} */ ([]), lanes: /** @type {number[]} */ ([]), now: 0, span: 1200, playing: false,
      followed: /** @type {string | null} */ (null), cached: { from: 0, to: -1, signals: /** @type {any[]} */ ([]) }, listed: -1, headed: 0,
    };
    this.wire();
  }

  /** @param {string} selector @returns {any} */
  $(selector) {
    return this.root.querySelector(selector);
  }

  /** Shows a run. @param {any} about @param {number | "episode" | "keep"} now @param {any[]} [others] tiles of another run */
  show(about, now, others) {
    const { state } = this;
    state.about = about;
    state.cached.to = -1;
    state.lanes = about.lanes ?? about.order;
    state.followed = null;
    this.$(".life").hidden = true;
    if (now === "episode" && about.episode && (about.at ?? null) === null) {
      const [from, to] = about.episode;
      this.zoom(((to - from) * 1.2) / 0.72);
      now = to + (to - from) * 0.1;
    }
    const kept = typeof now === "number" ? now : now === "keep" ? state.now : (about.at ?? about.first_collision ?? 0);
    state.now = Math.min(kept, about.end);
    state.places = this.parts();
    this.$(".time input").max = about.end;
    this.$(".opens").textContent = about.episode ? `The picture opens on ${about.opens_on}.` : "";
    this.heads();
    this.overview();
    this.figures(about, others);
    this.render();
    this.list(true);
  }

  /** @param {any} about @param {any[]} [others] tiles of another run */
  figures(about, others) {
    this.$(".tiles").innerHTML = tiled(about.tiles, others);
    this.$(".plots").innerHTML = about.plots.map(chart).join("");
  }

  /** Where each station is, as a part of the cable: in a picture that has no places, evenly. @returns {number[]} */
  parts() {
    const { places, order } = this.state.about;
    if (this.hooks.parts) return this.hooks.parts();
    const farthest = Math.max(1, ...places);
    return places.map((/** @type {number | null} */ place, /** @type {number} */ at) => (place === null ? order.indexOf(at) / Math.max(1, order.length - 1) : place / farthest));
  }

  /** The stations' heads above the picture. */
  heads() {
    const { about, lanes } = this.state;
    const into = this.$(".heads");
    into.classList.toggle("dense", lanes.length > DENSE || lanes.length * NARROW > into.clientWidth);
    into.replaceChildren(...lanes.map((at) => this.head(about.stations[at], at, about.shape === "cable" && this.hooks.move !== undefined)));
    this.state.headed = 0;
  }

  /** @param {string} name @param {number} at @param {boolean} movable */
  head(name, at, movable) {
    const button = document.createElement("button");
    button.textContent = name;
    button.dataset.station = String(at);
    button.title = movable ? `${name}: drag it, or move it with the arrow keys` : `${name}: its newest frame`;
    button.classList.toggle("drag", movable);
    if (!movable) {
      button.addEventListener("click", () => this.newest(name));
      return button;
    }
    const move = (/** @type {number} */ part) => this.hooks.move?.(at, part);
    button.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      move(this.state.places[at] + by);
      this.$(`.heads [data-station="${at}"]`).focus();
    });
    button.addEventListener("pointerdown", (event) => {
      button.setPointerCapture(event.pointerId);
      button.dataset.dragged = "yes";
    });
    button.addEventListener("pointermove", (event) => {
      if (button.dataset.dragged) button.style.left = `${this.picture.along(this.pointed(event))}px`;
    });
    button.addEventListener("pointerup", (event) => {
      delete button.dataset.dragged;
      move(this.pointed(event));
    });
    return button;
  }

  /** The part of the cable that a pointer is at. @param {PointerEvent} event */
  pointed(event) {
    return this.picture.part(event.clientX - this.$(".picture").getBoundingClientRect().left);
  }

  /** Who sends over time, of many stations: a row each, and which have lanes. */
  overview() {
    const { about, lanes } = this.state;
    const into = this.$(".overview");
    into.hidden = !about.shares;
    if (!about.shares) return;
    const row = (/** @type {number} */ station) => {
      const shares = about.shares[station];
      const mean = shares.reduce((/** @type {number} */ sum, /** @type {number} */ one) => sum + one, 0) / shares.length;
      const label = document.createElement("label");
      label.innerHTML = `<input type="checkbox" value="${station}"${lanes.includes(station) ? " checked" : ""}> <span>${escaped(about.stations[station])}</span>
        <canvas width="${shares.length}" height="1"></canvas> <span class="share">${short(mean)} %</span>`;
      const context = label.querySelector("canvas")?.getContext("2d");
      shares.forEach((/** @type {number} */ share, /** @type {number} */ at) => {
        if (!context) return;
        context.globalAlpha = share ? 0.12 + 0.88 * Math.min(1, share / 60) : 0;
        context.fillStyle = this.picture.palette["--frame"];
        context.fillRect(at, 0, 1, 1);
      });
      return label;
    };
    this.$(".shares").replaceChildren(...about.order.map(row));
  }

  /** Draws one instant, and gives how long the script took. */
  render() {
    const begin = performance.now();
    const { state } = this;
    const { about, now, span } = state;
    if (!about) return 0;
    const from = Math.max(0, now - span * 0.72);
    const to = from + span;
    if (from < state.cached.from || to > state.cached.to) {
      const reach = [Math.max(0, Math.floor(from - span)), Math.ceil(to + span)];
      state.cached = { from: reach[0], to: reach[1], signals: this.engine.ask({ ask: "scene", from: reach[0], to: reach[1] }) };
    }
    const signals = state.cached.signals.filter((one) => one.begin < to && one.there.some((/** @type {any} */ at) => at && at[1] > from));
    this.picture.draw({ from, to, now, signals, shape: about.shape, order: about.order, lanes: state.lanes, places: state.places, followed: state.followed, grid: grid(span) });
    if (state.headed !== this.picture.width) this.placeHeads();
    this.$(".time input").value = now;
    this.$(".clock").textContent = `${grouped(now)} BT · ${short((now / about.rate) * 1e6)} µs`;
    return performance.now() - begin;
  }

  /** Puts the heads above their lanes: only where these have moved. */
  placeHeads() {
    this.state.headed = this.picture.width;
    for (const button of this.$(".heads").children) button.style.left = `${this.picture.across(Number(button.dataset.station))}px`;
  }

  /** Sentences, and where the plots are. @param {boolean} isTold to those who hear the page */
  list(isTold) {
    const { about, now } = this.state;
    const rows = this.engine.ask({ ask: "rows", to: Math.floor(now), most: ROWS }).reverse();
    this.$(".rows").innerHTML = rows.map((/** @type {any} */ row) =>
      `<li class="${row.kind}"><b>${grouped(row.t)}</b> ${escaped(row.frame.replace(/#0$/, ""))}: ${escaped(row.says)}</li>`).join("");
    const newest = rows[0];
    if (isTold) this.say(newest ? `${grouped(newest.t)} BT: ${newest.says}` : "Nothing has happened yet. Run, or go to the next event with Step.");
    point(this.$(".plots"), about.plots, (now / about.rate) * 1000);
  }

  /** @param {string} text */
  say(text) {
    this.$(".live").textContent = text;
  }

  /** @param {number} now @param {boolean} isTold */
  go(now, isTold = true) {
    this.state.now = Math.min(Math.max(0, now), this.state.about.end);
    this.render();
    this.list(isTold);
    this.hooks.changed?.(this);
  }

  /** @param {boolean} playing */
  play(playing) {
    this.state.playing = playing;
    this.$(".play").setAttribute("aria-pressed", String(playing));
    this.$(".play").textContent = playing ? "Pause" : "Run";
    if (playing) requestAnimationFrame((at) => this.frame(at, at));
    else this.list(true);
  }

  /** @param {number} last @param {number} at */
  frame(last, at) {
    const { state } = this;
    if (!state.playing) return;
    state.now = Math.min(state.now + ((at - last) / 1000) * state.span * PACE, state.about.end);
    this.render();
    if (at - state.listed > 250) {
      state.listed = at;
      this.list(false);
    }
    if (state.now >= state.about.end) this.play(false);
    else requestAnimationFrame((next) => this.frame(at, next));
  }

  /** @param {string | null} kind */
  onward(kind) {
    this.play(false);
    const next = this.engine.ask({ ask: "next", after: Math.floor(this.state.now), kind });
    if (next === null) this.say(kind ? `No further ${kind} in this run.` : "The run is over.");
    else this.go(next);
  }

  back() {
    this.play(false);
    const [before] = this.engine.ask({ ask: "rows", to: Math.max(0, Math.ceil(this.state.now) - 1), most: 1 });
    this.go(before ? before.t : 0);
  }

  /** The life of a frame beside the picture. @param {string} name */
  life(name) {
    this.play(false);
    let answer;
    try {
      answer = this.engine.ask({ ask: "life", frame: name });
    } catch (error) {
      this.say(/** @type {Error} */ (error).message);
      return;
    }
    this.state.followed = name;
    const { life: told, text, svg } = answer;
    // What the command line asks for with an option is a button here.
    const inShort = escaped(text.trim().split("\n\n").at(-1).replaceAll(/\n */g, " "))
      .replaceAll(/`--frame ([^`]+)`/g, (_, other) => `<button data-frame="${other}">${other}</button>`);
    const steps = told.steps.map((/** @type {any} */ step) => `<li><b>${grouped(step.t_bt)}</b> ${escaped(step.says)}</li>`).join("");
    this.$(".life").innerHTML = `<h2>The life of ${escaped(name)}</h2><p>${inShort}</p><ol>${steps}</ol>${svg ? `<figure>${svg}</figure>` : ""}`;
    this.$(".life").hidden = false;
    this.render();
    this.$(".life").focus();
  }

  /** The frame of the newest event, or of the newest of a station. @param {string} [station] */
  newest(station) {
    const rows = this.engine.ask({ ask: "rows", to: Math.floor(this.state.now), most: 50 * ROWS }).reverse();
    const row = rows.find((/** @type {any} */ one) => !one.frame.endsWith("#0") && (!station || one.frame.startsWith(`${station}#`)));
    if (row) this.life(row.frame);
  }

  forget() {
    this.state.followed = null;
    this.$(".life").hidden = true;
    this.render();
  }

  /** A frame like st2#17, or an instant. @param {string} wanted */
  find(wanted) {
    const at = Number(wanted.replaceAll(",", ""));
    if (wanted.includes("#")) this.life(wanted.trim());
    else if (Number.isNaN(at)) this.say(`${wanted}: write a frame, like st2#17, or an instant in bit times`);
    else this.go(at);
  }

  /** @param {number} span */
  zoom(span) {
    this.state.span = within(span);
    this.$(".zoom").value = Math.log2(this.state.span);
  }

  /** @param {number} by */
  closer(by) {
    this.zoom(this.state.span * by);
    this.go(this.state.now);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const act = { " ": () => this.play(!this.state.playing), ArrowRight: () => this.onward(null), ArrowLeft: () => this.back(), c: () => this.onward("collision"),
      f: () => this.newest(), Escape: () => this.forget(), "+": () => this.closer(1 / 1.5), "-": () => this.closer(1.5) }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  /** Colours or the window are other ones. */
  anew() {
    this.picture.colours();
    this.render();
  }

  wire() {
    const on = (/** @type {string} */ selector, /** @type {string} */ kind, /** @type {(event: any) => void} */ act) => this.$(selector).addEventListener(kind, act);
    on(".play", "click", () => this.play(!this.state.playing));
    on(".step", "click", () => this.onward(null));
    on(".back", "click", () => this.back());
    on(".collision", "click", () => this.onward("collision"));
    on(".time input", "input", () => (this.play(false), this.go(Number(this.$(".time input").value))));
    on(".zoom", "input", () => (this.zoom(2 ** Number(this.$(".zoom").value)), this.go(this.state.now)));
    on(".find", "submit", (event) => (event.preventDefault(), this.find(this.$(".find input").value)));
    on(".picture", "keydown", (event) => this.key(event));
    on(".picture", "wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      this.closer(event.deltaY < 0 ? 1 / 1.2 : 1.2);
    });
    on(".picture", "click", (event) => {
      const one = this.picture.at(event.offsetX, event.offsetY);
      if (one && !one.frame.endsWith("#0")) this.life(one.frame);
    });
    on(".life", "click", (event) => event.target.dataset.frame && this.life(event.target.dataset.frame));
    on(".shares", "change", () => {
      const chosen = [...this.root.querySelectorAll(".shares input:checked")].map((box) => Number(/** @type {HTMLInputElement} */ (box).value));
      this.state.lanes = chosen.length ? chosen : this.state.about.lanes;
      this.heads();
      this.render();
    });
    on(".shares", "click", (event) => {
      if (event.target.tagName !== "CANVAS") return;
      event.preventDefault();
      const { begin, end } = this.state.about;
      this.go(begin + (event.offsetX / event.target.clientWidth) * (end - begin));
    });
    window.addEventListener("resize", () => this.state.about?.order && (this.heads(), this.render()));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.anew());
    for (const at of ["beforeprint", "afterprint"]) window.addEventListener(at, () => this.anew());
  }
}

/** Bit times between two lines. @param {number} span */
function grid(span) {
  const ten = 10 ** Math.floor(Math.log10(span / 6));
  return [1, 2, 5, 10].map((one) => one * ten).find((one) => span / one <= 9) ?? ten * 10;
}
