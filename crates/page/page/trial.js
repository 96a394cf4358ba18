// @ts-check
// A scenario that is run anew with each change. The controls are one form, which writes into the trial that it is at.

import { scenario } from "./scenario.js";
import { Bench } from "./bench.js";

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

export class Trial {
  /** @param {HTMLElement} root @param {import("./engine.js").Engine} engine @param {{changed?: (bench: Bench) => void, ran?: (trial: Trial) => void}} hooks */
  constructor(root, engine, hooks) {
    this.engine = engine;
    this.hooks = hooks;
    this.text = "";
    this.bench = new Bench(root, engine, { move: (station, part) => this.move(station, part), parts: () => this.parts(), changed: hooks.changed });
  }

  /** Runs a scenario and shows it from `now` on. @param {string} text @param {number | "episode" | "keep"} now @param {any[]} [others] */
  run(text, now, others) {
    this.text = text;
    const error = $("error");
    let about;
    try {
      about = this.engine.ask({ ask: "run", scenario: text });
    } catch (wrong) {
      error.textContent = /** @type {Error} */ (wrong).message;
      error.hidden = false;
      this.hooks.ran?.(this);
      return false;
    }
    error.hidden = true;
    this.bench.show(about, now, others);
    this.hooks.ran?.(this);
    return true;
  }

  /** The length that the scenario gives the cable, in metres. */
  metres() {
    return Number.parseFloat((scenario.get(this.text, "medium", "topology") ?? "").slice(4)) || 1;
  }

  /** Where each station is, as a part of the cable: by the metres of the scenario if it has them. @returns {number[]} */
  parts() {
    const { places, order, topology } = this.bench.state.about;
    if (topology !== "bus") return places.map((/** @type {unknown} */ _, /** @type {number} */ at) => order.indexOf(at) / Math.max(1, order.length - 1));
    const written = places.map((/** @type {unknown} */ _, /** @type {number} */ at) => scenario.get(this.text, "station", "position", at));
    const farthest = Math.max(1, ...places);
    return places.map((/** @type {number} */ place, /** @type {number} */ at) =>
      /^[\d.]+ ?m$/.test(written[at] ?? "") ? Number.parseFloat(written[at]) / this.metres() : place / farthest);
  }

  /** Moves a station to a part of the cable. @param {number} station @param {number} part */
  move(station, part) {
    const [held, long] = [this.parts(), this.metres()];
    held[station] = Math.min(1, Math.max(0, part));
    const placed = held.reduce((text, one, at) => scenario.set(text, "station", "position", `${Math.round(one * long)} m`, at), scenario.spelt(this.text));
    this.run(placed, "keep");
  }
}

/** The text without the places of its stations. @param {string} text */
function unplaced(text) {
  const count = text.split("[[station]]").length - 1;
  return Array.from({ length: count }).reduce((/** @type {string} */ all, _, at) => scenario.set(all, "station", "position", undefined, at), text);
}

/** What each control writes. @type {Record<string, (text: string, value: string) => string>} */
const WRITES = {
  method: (text, value) => scenario.set(text, "access", "method", value),
  topology: (text, value) => scenario.set(unplaced(text), "medium", "topology", value === "bus" ? "bus:500m" : "star:0bt"),
  length: (text, value) => scenario.set(unplaced(text), "medium", "topology", `bus:${value}m`),
  stations: (text, value) => scenario.withStations(text, Math.min(60, Math.max(2, Number(value)))),
  load: (text, value) => scenario.set(text, "traffic", "arrivals", value),
  frame: (text, value) => scenario.set(text, "traffic", "frame_size", Number(value)),
  rate: (text, value) => scenario.set(text, "medium", "rate", value),
  fault: (text, value) => scenario.set(value ? scenario.spelt(text) : text, "station", "fault", value || undefined),
  seed: (text, value) => scenario.set(text, "", "seed", Number(value)),
};

export class Controls {
  /** @param {HTMLElement} form */
  constructor(form) {
    this.form = form;
    /** @type {((text: string) => void) | null} */ this.run = null;
    this.text = "";
    for (const [id, write] of Object.entries(WRITES)) $(id).addEventListener("change", () => this.run?.(write(this.text, $(id).value)));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** Goes before an element, and shows and changes the scenario of a trial. @param {HTMLElement} beside @param {(text: string) => void} run */
  at(beside, run) {
    beside.before(this.form);
    this.run = run;
  }

  /** @param {string} text */
  show(text) {
    this.text = text;
    const topology = scenario.get(text, "medium", "topology") ?? "star:0bt";
    pick("method", scenario.get(text, "access", "method") ?? "csma-cd");
    pick("topology", topology.split(":")[0]);
    $("length-label").hidden = !topology.startsWith("bus");
    $("length").value = Number.parseFloat(topology.split(":")[1] ?? "500") || 500;
    $("stations").value = scenario.stations(text);
    pick("load", scenario.get(text, "traffic", "arrivals") ?? "saturated");
    $("frame").value = Number.parseInt(scenario.get(text, "traffic", "frame_size") ?? "64", 10);
    pick("rate", scenario.get(text, "medium", "rate") ?? "10Mbit/s");
    pick("fault", scenario.get(text, "station", "fault") ?? "");
    $("seed").value = scenario.get(text, "", "seed") ?? 1;
  }
}

/** @param {string} id @param {string} value */
function pick(id, value) {
  const options = /** @type {HTMLOptionElement[]} */ ([...$(id).options]);
  if (!options.some((option) => option.value === value)) $(id).add(new Option(value, value));
  $(id).value = value;
}
