// @ts-check
// The page: runs of a program, a scenario to try, lessons.

import { Engine, unpacked } from "./engine.js";
import { scenario } from "./scenario.js";
import { grouped } from "./bench.js";
import { escaped } from "./charts.js";
import { $, Controls, Trial } from "./trial.js";
import { LESSONS, written } from "./lessons.js";
import { Report } from "./report.js";

/** What the page opens on. */
const OPENING = written({ stations: 4, topology: "bus:1000m", traffic: 'arrivals = "poisson:0.9"\nframe_size = 128' });

/** @type {Trial} */ let trial;
/** @type {Controls} */ let controls;
/** @type {Report | null} */ let report = null;

/** A scenario in the trial. @param {string} text @param {number | "episode" | "keep"} now */
function run(text, now) {
  return trial.run(text, now);
}

/** What has to follow a run of the trial. */
function ran() {
  controls.show(trial.text);
  $("toml").value = trial.text;
  const { about } = trial.bench.state;
  if (!about || !$("error").hidden) return;
  $("summary").textContent = about.sentence + (about.cut ? ` The run ends here, since a page keeps ${grouped(about.events)} events.` : "");
  history.replaceState(null, "", address());
}

/** The scenario, the instant and the window as an address, from which the same picture opens. */
function address() {
  const { now, span } = trial.bench.state;
  return `#s=${scenario.packed(trial.text)}&t=${Math.round(now)}&z=${Math.round(span)}`;
}

/** Opens what the page's address says. */
function open() {
  const number = (/** @type {string} */ key) => Number(new RegExp(`&${key}=(\\d+)`).exec(location.hash)?.[1] ?? Number.NaN);
  const [text, at, span] = [scenario.fromAddress(location.hash), number("t"), number("z")];
  if (span) trial.bench.zoom(span);
  return run(text ?? OPENING, Number.isNaN(at) ? "episode" : at);
}

/** @param {number} lesson */
function learn(lesson) {
  const { title, lead, scenario: text, at, span, questions, tries } = LESSONS[lesson];
  const items = (/** @type {string[]} */ all) => all.map((one) => `<li>${escaped(one)}</li>`).join("");
  $("lesson").innerHTML = `<h2>${lesson + 1}. ${escaped(title)}</h2><p>${escaped(lead)}</p><div><div><h3>Three questions</h3><ol>${items(questions)}</ol></div>
    <div><h3>Try</h3><ul>${items(tries)}</ul></div></div>`;
  $("lesson").hidden = false;
  tab("try");
  trial.bench.zoom(span);
  run(text, at === "collision" ? 0 : at);
  const { first_collision: collision } = trial.bench.state.about;
  if (at === "collision") trial.bench.go((collision ?? 0) + span * 0.12);
  $("lesson").focus();
}

/** Which part of the page is shown. @param {"report" | "try" | "lessons"} shown */
function tab(shown) {
  for (const name of ["report", "try", "lessons"]) {
    $(name).hidden = name !== shown;
    $(`show-${name}`).setAttribute("aria-pressed", String(name === shown));
  }
  $("summary").hidden = shown === "report";
  if (shown !== "try") return;
  controls.at($("own"), (text) => run(text, "keep"));
  controls.form.hidden = false;
  if (trial.text) ran();
  else open();
}

/** @param {string} name @param {string} text */
function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  $("done").textContent = `${name} is saved.`;
}

/** A trace from a file, in the place of the scenario's run. @param {File} file */
async function opened(file) {
  try {
    trial.engine.open(new Uint8Array(await file.arrayBuffer()));
    trial.bench.show(trial.engine.ask({ ask: "about" }), "episode");
    $("summary").textContent = trial.bench.state.about.sentence;
    $("error").hidden = true;
  } catch (error) {
    $("error").textContent = /** @type {Error} */ (error).message;
    $("error").hidden = false;
  }
}

function wire() {
  $("apply").addEventListener("click", () => run($("toml").value, "episode"));
  $("link").addEventListener("click", async () => {
    history.replaceState(null, "", address());
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    $("done").textContent = "The page’s address has the scenario: send it.";
  });
  $("save").addEventListener("click", () => save("scenario.toml", trial.text));
  $("trace").addEventListener("click", () => save("run.trace", trial.engine.text({ ask: "trace" })));
  $("file").addEventListener("change", () => $("file").files[0] && opened($("file").files[0]));
  for (const name of /** @type {const} */ (["report", "try", "lessons"])) $(`show-${name}`).addEventListener("click", () => tab(name));
  window.addEventListener("hashchange", open);
}

function lessons() {
  $("lessons").innerHTML = LESSONS.map(({ title, lead }, at) =>
    `<article><h2>${at + 1}. ${escaped(title)}</h2><p>${escaped(lead)}</p><button data-lesson="${at}">Begin</button></article>`).join("");
  $("lessons").addEventListener("click", (/** @type {any} */ event) => event.target.dataset.lesson && learn(Number(event.target.dataset.lesson)));
}

const given = JSON.parse($("runs").textContent);
const engine = $("wasm").textContent.trim();
const code = engine ? await unpacked(engine) : null;
controls = new Controls($("controls"));
if (code) {
  trial = new Trial($("own"), await Engine.of(code), { ran });
  wire();
  lessons();
} else {
  /** @type {HTMLElement} */ (document.querySelector("nav")).hidden = true;
}
if (given.runs.length) {
  $("heading").textContent = document.title;
  $("show-report").hidden = false;
  report = new Report($("told-runs"), given, code, controls);
  if (code) tab("report");
  $("report").hidden = false;
  await report.show();
} else {
  tab("try");
}
// For tests of the page.
Object.assign(window, { bus: { trial, report, run, learn, benches: () => (report ? report.benches : [trial.bench]) } });
