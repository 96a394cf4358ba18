// @ts-check
// Runs that a program put into the page: a sentence, a picture, figures, and what would be if one thing were different.

import { Engine, unpacked } from "./engine.js";
import { Told } from "./told.js";
import { Bench, grouped } from "./bench.js";
import { Trial } from "./trial.js";
import { escaped } from "./charts.js";

/** @typedef {{about: any, trace?: string | null, told?: any}} Given */

/** What the page is without: no engine to ask, or nothing. @type {{ask: (question: any) => any}} */
const NOBODY = { ask: () => [] };

export class Report {
  /** @param {HTMLElement} root @param {{runs: Given[], missing: string}} given @param {BufferSource | null} code @param {import("./trial.js").Controls} controls */
  constructor(root, given, code, controls) {
    this.root = root;
    this.given = given;
    this.code = code;
    this.controls = controls;
    /** @type {Bench[]} */ this.benches = [];
  }

  async show() {
    const { runs, missing } = this.given;
    this.root.classList.toggle("several", runs.length > 1);
    if (missing) this.root.insertAdjacentHTML("beforeend", `<p class="missing">${escaped(missing)}</p>`);
    if (runs.length > 1) this.root.insertAdjacentHTML("beforeend", '<p><label class="step-label"><input type="checkbox" class="together" checked> The pictures show the same time.</label></p>');
    const all = document.createElement("div");
    all.className = "runs";
    this.root.append(all);
    for (const [number, run] of runs.entries()) await this.run(all, run, number ? runs[0].about.tiles : undefined);
  }

  /** @param {HTMLElement} into @param {Given} given @param {any[]} [others] */
  async run(into, given, others) {
    const { about } = given;
    const article = document.createElement("article");
    article.setAttribute("aria-label", about.label);
    article.innerHTML = `${this.given.runs.length > 1 ? `<h2>${escaped(about.label)}</h2>` : ""}<p class="sentence">${escaped(about.sentence)}</p>`;
    into.append(article);
    const parts = document.createElement("div");
    article.append(parts);
    if (!about.events) {
      const bench = new Bench(parts, NOBODY);
      bench.$(".bench").hidden = true;
      bench.figures(about, others);
      return;
    }
    const bench = new Bench(parts, await this.engine(given), { changed: (one) => this.together(one) });
    bench.show(about, "episode", others);
    if (about.at !== undefined && about.at !== null) bench.go(about.at);
    this.benches.push(bench);
    this.offer(article, about);
  }

  /** Who answers about a run. @param {Given} given @returns {Promise<{ask: (question: object) => any}>} */
  async engine({ trace, told }) {
    if (!this.code || !trace) return new Told(told, this.given.missing);
    const engine = await Engine.of(this.code);
    engine.open(new Uint8Array(await unpacked(trace)));
    return engine;
  }

  /** Pictures in step. @param {Bench} one */
  together(one) {
    const box = /** @type {HTMLInputElement | null} */ (this.root.querySelector(".together"));
    if (!box?.checked) return;
    for (const other of this.benches.filter((bench) => bench !== one)) {
      other.zoom(one.state.span);
      other.state.now = Math.min(one.state.now, other.state.about.end);
      other.render();
      other.list(false);
    }
  }

  /** "What if", or why not. @param {HTMLElement} article @param {any} about */
  offer(article, about) {
    const why = !about.scenario
      ? "What if something were different? This trace has no scenario to run again: its hosts would have reacted."
      : this.code ? "" : this.given.missing;
    const section = document.createElement("section");
    section.className = "whatif";
    section.setAttribute("aria-label", "What if");
    section.innerHTML = why ? `<p class="faint">${escaped(why)}</p>` : "<h2>What if</h2><p><button>Run it with one change</button></p><div hidden><div></div></div>";
    article.append(section);
    const [button, place] = [section.querySelector("button"), section.querySelector("div")];
    if (button && place) button.addEventListener("click", () => this.another(button, place, about));
  }

  /** The same scenario with a change, below the run. @param {HTMLElement} button @param {HTMLElement} place @param {any} about */
  async another(button, place, about) {
    if (!this.code) return;
    button.hidden = true;
    place.hidden = false;
    const own = /** @type {HTMLElement} */ (place.firstElementChild);
    const trial = new Trial(own, await Engine.of(this.code), {
      changed: (one) => this.together(one),
      ran: (one) => this.controls.show(one.text),
    });
    const run = (/** @type {string} */ text) => trial.run(text, trial.bench.state.about ? "keep" : "episode", about.tiles);
    this.controls.at(own, run);
    this.controls.form.hidden = false;
    run(about.scenario);
    trial.bench.say(`This is the same run: ${grouped(about.events)} events. Change something at the left.`);
    this.controls.form.querySelector("select")?.focus();
  }
}
