// @ts-check
// Plots as small charts: a line or bars, each with what it comes to in words.

const WIDE = 320;
const HIGH = 110;

/** @typedef {{label: string, from: number, to: number, is_log: boolean}} Axis */
/** @typedef {{title: string, says: string, x: Axis, y: Axis, is_over_time: boolean, points: [number, number | null][],
 *   is_bars: boolean, bound: [number, string] | null, marks: number[]}} Plot */

/** @param {number} value */
export const short = (value) => (value >= 100 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(2)).toString());
/** @param {string} text */
export const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** The part of an axis up to a value. @param {Axis} axis @param {number} value */
function part({ from, to, is_log: isLog }, value) {
  const [a, b, at] = isLog ? [from, to, value].map(Math.log) : [from, to, value];
  return (at - a) / (b - a || 1);
}

/** Draws a plot. @param {Plot} plot @returns {string} HTML */
export function chart(plot) {
  const { title, says, x, y, points, bound, marks } = plot;
  const across = (/** @type {number} */ value) => (part(x, value) * WIDE).toFixed(1);
  const up = (/** @type {number} */ value) => (HIGH - 3 - part(y, value) * (HIGH - 8)).toFixed(1);
  const across2 = (/** @type {number} */ at, /** @type {string} */ kind) => `<line class="${kind}" x1="${across(at)}" x2="${across(at)}" y1="0" y2="${HIGH}"/>`;
  let line = "";
  points.forEach(([at, value], place) => {
    if (value === null) return;
    if (plot.is_bars) line += `M${across(at)} ${HIGH - 3}V${up(value)}`;
    else line += `${place && points[place - 1][1] !== null ? "L" : "M"}${across(at)} ${up(value)}`;
  });
  const dashed = bound ? `<line class="bound" x1="0" x2="${WIDE}" y1="${up(bound[0])}" y2="${up(bound[0])}"/>` : "";
  return `<figure><h3>${title}</h3><p><b>${escaped(says)}</b></p><p class="scale"><span>${short(y.to)}</span><span>${escaped(y.label)}${y.is_log ? ", logarithmic" : ""}</span></p>
    <svg viewBox="0 0 ${WIDE} ${HIGH}" preserveAspectRatio="none" role="img" aria-label="${title}: ${escaped(says)}. Across: ${escaped(x.label)}, ${short(x.from)} to ${short(x.to)}; up: ${escaped(y.label)}, to ${short(y.to)}">
    <line class="zero" x1="0" x2="${WIDE}" y1="${HIGH - 3}" y2="${HIGH - 3}"/>${marks.map((at) => across2(at, "mark")).join("")}${dashed}
    <path class="${plot.is_bars ? "bars" : ""}" d="${line}"/>${plot.is_over_time ? across2(x.from, "now") : ""}</svg>
    <p class="scale"><span>${short(x.from)}</span><span>${escaped(x.label)}${x.is_log ? ", logarithmic" : ""}</span><span>${short(x.to)}</span></p>
    ${bound ? `<p class="faint">${escaped(bound[1])}</p>` : ""}${marks.length ? '<p class="faint">upright lines: where something was done to the medium</p>' : ""}</figure>`;
}

/** Moves the line that says where in time the picture is. @param {ParentNode} into @param {Plot[]} plots @param {number} ms */
export function point(into, plots, ms) {
  const over = plots.filter((plot) => plot.is_over_time);
  into.querySelectorAll(".now").forEach((line, at) => {
    const x = String(Math.min(1, Math.max(0, part(over[at].x, ms))) * WIDE);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
  });
}

/** @typedef {{what: string, says: string, sure: string, value: number}} Tile */

/** Key figures; beside those of another run, by how much they differ. @param {Tile[]} tiles @param {Tile[]} [others] */
export function tiled(tiles, others = []) {
  const than = (/** @type {Tile} */ tile) => {
    const other = others.find((one) => one.what === tile.what);
    if (!other) return "";
    const by = tile.value - other.value;
    return `<dd class="than">${by < 0 ? "−" : "+"}${by === 0 ? "0" : short(Math.abs(by))} against ${escaped(other.says)}</dd>`;
  };
  const tile = (/** @type {Tile} */ one) => `<div><dt>${escaped(one.what)}</dt><dd class="figure">${escaped(one.says)}</dd>${one.sure ? `<dd class="sure">${escaped(one.sure)}</dd>` : ""}${than(one)}</div>`;
  return tiles.map(tile).join("");
}
