// @ts-check
// The page: one scenario, one run, one instant. Each change of the scenario runs it anew; time is a place in that run.

import { Engine, unpacked } from "./engine.js";
import * as scenario from "./scenario.js";
import { Picture } from "./picture.js";
import { charts, show, short } from "./charts.js";
import { LESSONS, written } from "./lessons.js";

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const grouped = (/** @type {number} */ number) => Math.round(number).toLocaleString("en");

/** What the page opens on. */
const OPENING = written({ stations: 4, topology: "bus:1000m", traffic: 'arrivals = "poisson:0.9"\nframe_size = 128' });
/** Rows that are shown at most. */
const ROWS = 14;
/** Events that go by in a second where the sentences are read, and how much of a window goes by in a second. */
const PACE = 0.16;

/** @type {Engine} */ let engine;
/** @type {Picture} */ let picture;
const state = {
  text: "", places: /** @type {number[]} */ ([]), about: /** @type {any} */ (null), now: 0, span: 1200, playing: false, followed: /** @type {string | null} */ (null),
  cached: { from: 0, to: -1, signals: /** @type {any[]} */ ([]) }, listed: -1, drawn: 0, headed: 0,
};

/** Runs a scenario and shows it from `now` on. @param {string} text @param {number | "collision" | "keep"} now */
function run(text, now) {
  state.text = text;
  const begin = performance.now();
  try {
    state.about = engine.ask({ ask: "run", scenario: text });
    $("error").hidden = true;
  } catch (error) {
    $("error").textContent = /** @type {Error} */ (error).message;
    $("error").hidden = false;
    $("toml").value = text;
    return false;
  }
  state.cached.to = -1;
  const { first_collision: collision, end } = state.about;
  const kept = now === "keep" ? state.now : now === "collision" ? (collision ?? 0) + state.span * 0.12 : now;
  state.now = Math.min(kept, end);
  state.followed = null;
  $("life").hidden = true;
  controls();
  state.places = parts();
  state.headed = 0;
  heads();
  summary(performance.now() - begin);
  render();
  history.replaceState(null, "", address());
  list(true);
  return true;
}

/** The scenario, the instant and the window as an address, from which the same picture opens. */
function address() {
  return `#s=${scenario.packed(state.text)}&t=${Math.round(state.now)}&z=${Math.round(state.span)}`;
}

/** Opens what the page's address says. */
function open() {
  const number = (/** @type {string} */ key) => Number(new RegExp(`&${key}=(\\d+)`).exec(location.hash)?.[1] ?? Number.NaN);
  const [text, at, span] = [scenario.fromAddress(location.hash), number("t"), number("z")];
  zoom(span || 400);
  return run(text ?? OPENING, Number.isNaN(at) ? "collision" : at);
}

/** @param {number} took in milliseconds */
function summary(took) {
  const { results, stations, topology, end, rate, events, cut } = state.about;
  const medium = results.medium;
  const loss = `${grouped(medium.collision_episodes)} collision${medium.collision_episodes === 1 ? "" : "s"}`;
  $("summary").textContent = `${stations.length} stations of ${$("method").selectedOptions[0].text} on a ${topology}, ${short((end / rate) * 1000)} ms: `
    + `${short(100 * medium.utilization_frame)} % of the rate carried frames, ${loss}.`
    + (cut ? ` The run ends here, since a page keeps ${grouped(events)} events.` : "");
  $("summary").title = `run in ${Math.round(took)} ms, in this browser`;
}

/** Controls show what the text says. */
function controls() {
  const { text } = state;
  const topology = scenario.get(text, "medium", "topology") ?? "star:0bt";
  $("toml").value = text;
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
  $("time").max = state.about.end;
}

/** @param {string} id @param {string} value */
function pick(id, value) {
  const options = /** @type {HTMLOptionElement[]} */ ([...$(id).options]);
  if (!options.some((option) => option.value === value)) $(id).add(new Option(value, value));
  $(id).value = value;
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

/** Without places of stations. @param {string} text */
function unplaced(text) {
  const count = text.split("[[station]]").length - 1;
  return Array.from({ length: count }).reduce((/** @type {string} */ all, _, at) => scenario.set(all, "station", "position", undefined, at), text);
}

/** The stations' heads above the picture. */
function heads() {
  const { stations, shape } = state.about;
  const into = $("heads");
  into.classList.toggle("dense", stations.length > 16);
  into.replaceChildren(...stations.map((/** @type {string} */ name, /** @type {number} */ at) => head(name, at, shape === "cable")));
}

/** @param {string} name @param {number} at @param {boolean} movable */
function head(name, at, movable) {
  const button = document.createElement("button");
  button.textContent = name;
  button.title = movable ? `${name}: drag it, or move it with the arrow keys` : name;
  button.classList.toggle("drag", movable);
  if (!movable) return button;
  button.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(at, parts()[at] + by);
    $("heads").children[at].focus();
  });
  button.addEventListener("pointerdown", (event) => {
    button.setPointerCapture(event.pointerId);
    button.dataset.dragged = "yes";
  });
  button.addEventListener("pointermove", (event) => {
    if (!button.dataset.dragged) return;
    button.style.left = `${picture.along(pointed(event))}px`;
  });
  button.addEventListener("pointerup", (event) => {
    delete button.dataset.dragged;
    move(at, pointed(event));
  });
  return button;
}

/** The part of the cable that a pointer is at. @param {PointerEvent} event */
const pointed = (event) => picture.part(event.clientX - $("picture").getBoundingClientRect().left);

/** The length that the scenario gives the cable, in metres. */
const metres = () => Number.parseFloat((scenario.get(state.text, "medium", "topology") ?? "").slice(4)) || 1;

/** Where each station is, as a part of the cable: in a picture that has no places, evenly. @returns {number[]} */
function parts() {
  const { places, order, topology } = state.about;
  if (topology !== "bus") return places.map((/** @type {unknown} */ _, /** @type {number} */ at) => order.indexOf(at) / Math.max(1, order.length - 1));
  const written = places.map((/** @type {unknown} */ _, /** @type {number} */ at) => scenario.get(state.text, "station", "position", at));
  const farthest = Math.max(1, ...places);
  return places.map((/** @type {number} */ place, /** @type {number} */ at) =>
    /^[\d.]+ ?m$/.test(written[at] ?? "") ? Number.parseFloat(written[at]) / metres() : place / farthest);
}

/** Moves a station to a part of the cable. @param {number} station @param {number} part */
function move(station, part) {
  const held = parts();
  const long = metres();
  held[station] = Math.min(1, Math.max(0, part));
  const spelt = scenario.spelt(state.text);
  const placed = held.reduce((/** @type {string} */ text, /** @type {number} */ one, /** @type {number} */ at) =>
    scenario.set(text, "station", "position", `${Math.round(one * long)} m`, at), spelt);
  run(placed, "keep");
}

/** Draws one instant, and gives how long the script took. */
function render() {
  const begin = performance.now();
  const { about, now, span } = state;
  const from = Math.max(0, now - span * 0.72);
  const to = from + span;
  if (from < state.cached.from || to > state.cached.to) {
    const reach = [Math.max(0, Math.floor(from - span)), Math.ceil(to + span)];
    state.cached = { from: reach[0], to: reach[1], signals: engine.ask({ ask: "scene", from: reach[0], to: reach[1] }) };
  }
  const signals = state.cached.signals.filter((one) => one.begin < to && one.there.some((/** @type {any} */ at) => at && at[1] > from));
  picture.draw({ from, to, now, signals, shape: about.shape, order: about.order, places: state.places, followed: state.followed, grid: grid(span) });
  if (state.headed !== picture.width) placeHeads();
  $("time").value = now;
  $("clock").textContent = `${grouped(now)} BT · ${short((now / about.rate) * 1e6)} µs`;
  state.drawn = performance.now() - begin;
  return state.drawn;
}

/** Puts the heads above their lanes: only where these have moved. */
function placeHeads() {
  state.headed = picture.width;
  [...$("heads").children].forEach((button, at) => (button.style.left = `${picture.across(at)}px`));
}

/** Bit times between two lines. @param {number} span */
function grid(span) {
  const ten = 10 ** Math.floor(Math.log10(span / 6));
  return [1, 2, 5, 10].map((one) => one * ten).find((one) => span / one <= 9) ?? ten * 10;
}

/** Sentences and charts. @param {boolean} isTold to those who hear the page */
function list(isTold) {
  const rows = engine.ask({ ask: "rows", to: Math.floor(state.now), most: ROWS }).reverse();
  $("rows").innerHTML = rows.map((/** @type {any} */ row) =>
    `<li class="${row.kind}"><b>${grouped(row.t)}</b> ${escaped(row.frame.replace(/#0$/, ""))}: ${escaped(row.says)}</li>`).join("");
  const newest = rows[0];
  if (isTold) $("live").textContent = newest ? `${grouped(newest.t)} BT: ${newest.says}` : "Nothing has happened yet. Run, or go to the next event with Step.";
  const { course, rate, results, end } = state.about;
  const bound = results.medium.plca?.access_delay_bound_bt ?? 0;
  charts(course, rate, bound, results.medium.fairness).forEach((chart, at) => show($("figures").children[at], chart, state.now / end));
}

/** @param {number} now @param {boolean} isTold */
function go(now, isTold = true) {
  state.now = Math.min(Math.max(0, now), state.about.end);
  render();
  list(isTold);
}

/** @param {boolean} playing */
function play(playing) {
  state.playing = playing;
  $("play").setAttribute("aria-pressed", String(playing));
  $("play").textContent = playing ? "Pause" : "Run";
  if (playing) requestAnimationFrame((at) => frame(at, at));
  else list(true);
}

/** @param {number} last @param {number} at */
function frame(last, at) {
  if (!state.playing) return;
  state.now = Math.min(state.now + ((at - last) / 1000) * state.span * PACE, state.about.end);
  render();
  if (at - state.listed > 250) {
    state.listed = at;
    list(false);
  }
  if (state.now >= state.about.end) play(false);
  else requestAnimationFrame((next) => frame(at, next));
}

/** @param {string | null} kind */
function onward(kind) {
  play(false);
  const next = engine.ask({ ask: "next", after: Math.floor(state.now), kind });
  if (next === null) $("live").textContent = kind ? `No further ${kind} in this run.` : "The run is over.";
  else go(next);
}

function back() {
  play(false);
  const [before] = engine.ask({ ask: "rows", to: Math.max(0, Math.ceil(state.now) - 1), most: 1 });
  go(before ? before.t : 0);
}

/** The life of a frame beside the picture. @param {string} name */
function life(name) {
  play(false);
  state.followed = name;
  const { life: told, text, svg } = engine.ask({ ask: "life", frame: name });
  // What the command line asks for with an option is a button here.
  const inShort = escaped(text.trim().split("\n\n").at(-1).replaceAll(/\n */g, " "))
    .replaceAll(/`--frame ([^`]+)`/g, (_, other) => `<button data-frame="${other}">${other}</button>`);
  const steps = told.steps.map((/** @type {any} */ step) => `<li><b>${grouped(step.t_bt)}</b> ${escaped(step.says)}</li>`).join("");
  $("life").innerHTML = `<h2>The life of ${escaped(name)}</h2><p>${inShort}</p><ol>${steps}</ol>${svg ? `<figure>${svg}</figure>` : ""}`;
  $("life").hidden = false;
  render();
  $("life").focus();
}

/** Follows the frame of the newest event. */
function newest() {
  const row = engine.ask({ ask: "rows", to: Math.floor(state.now), most: ROWS }).reverse().find((/** @type {any} */ one) => !one.frame.endsWith("#0"));
  if (row) life(row.frame);
}

function forget() {
  state.followed = null;
  $("life").hidden = true;
  render();
}

/** @param {number} lesson */
function learn(lesson) {
  const { title, lead, scenario: text, at, span, questions, tries } = LESSONS[lesson];
  const items = (/** @type {string[]} */ all) => all.map((one) => `<li>${escaped(one)}</li>`).join("");
  $("lesson").innerHTML = `<h2>${lesson + 1}. ${escaped(title)}</h2><p>${escaped(lead)}</p><div><div><h3>Three questions</h3><ol>${items(questions)}</ol></div>
    <div><h3>Try</h3><ul>${items(tries)}</ul></div></div>`;
  $("lesson").hidden = false;
  zoom(span);
  tab(false);
  run(text, at);
  $("lesson").focus();
}

/** @param {number} span */
function zoom(span) {
  state.span = Math.min(2 ** 18, Math.max(2 ** 7, span));
  $("zoom").value = Math.log2(state.span);
}

/** @param {boolean} lessons */
function tab(lessons) {
  $("lessons").hidden = !lessons;
  $("show-lessons").setAttribute("aria-pressed", String(lessons));
  $("show-try").setAttribute("aria-pressed", String(!lessons));
}

/** @param {string} name @param {string} text */
function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  $("done").textContent = `${name} is saved.`;
}

/** @param {KeyboardEvent} event */
function key(event) {
  const act = { " ": () => play(!state.playing), ArrowRight: () => onward(null), ArrowLeft: back, c: () => onward("collision"),
    f: () => newest(), Escape: () => forget(), "+": () => (zoom(state.span / 1.5), go(state.now)), "-": () => (zoom(state.span * 1.5), go(state.now)) }[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
}

function wire() {
  for (const [id, write] of Object.entries(WRITES)) $(id).addEventListener("change", () => run(write(state.text, $(id).value), "keep"));
  $("controls").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  $("play").addEventListener("click", () => play(!state.playing));
  $("step").addEventListener("click", () => onward(null));
  $("back").addEventListener("click", back);
  $("collision").addEventListener("click", () => onward("collision"));
  $("time").addEventListener("input", () => (play(false), go(Number($("time").value))));
  $("zoom").addEventListener("input", () => (zoom(2 ** Number($("zoom").value)), render()));
  $("picture").addEventListener("keydown", key);
  $("picture").addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const one = picture.at(event.offsetX, event.offsetY);
    if (one && !one.frame.endsWith("#0")) life(one.frame);
  });
  $("life").addEventListener("click", (/** @type {any} */ event) => event.target.dataset.frame && life(event.target.dataset.frame));
  $("apply").addEventListener("click", () => run($("toml").value, 0));
  $("link").addEventListener("click", async () => {
    history.replaceState(null, "", address());
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    $("done").textContent = "The page’s address has the scenario: send it.";
  });
  $("save").addEventListener("click", () => save("scenario.toml", state.text));
  $("trace").addEventListener("click", () => save("run.events", engine.text({ ask: "trace" })));
  $("show-try").addEventListener("click", () => tab(false));
  $("show-lessons").addEventListener("click", () => tab(true));
  window.addEventListener("resize", render);
  window.addEventListener("hashchange", open);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (picture.colours(), render()));
  for (const at of ["beforeprint", "afterprint"]) window.addEventListener(at, () => (picture.colours(), render()));
}

function lessons() {
  $("lessons").innerHTML = LESSONS.map(({ title, lead }, at) =>
    `<article><h2>${at + 1}. ${escaped(title)}</h2><p>${escaped(lead)}</p><button data-lesson="${at}">Begin</button></article>`).join("");
  $("lessons").addEventListener("click", (/** @type {any} */ event) => event.target.dataset.lesson && learn(Number(event.target.dataset.lesson)));
}

engine = await Engine.of(await unpacked($("wasm").textContent));
picture = new Picture($("picture"));
wire();
lessons();
if (!open()) run(OPENING, "collision");
// For tests of the page.
Object.assign(window, { bus: { state, engine, picture, render, go, life, learn } });
