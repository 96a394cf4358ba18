// @ts-check
// Figures over time as small charts: utilization, delay, fairness, each a line with its last value in words.

const WIDE = 320;
const HIGH = 84;

/** @typedef {{utilization: number[], mac_delay_bt: (number | null)[], fairness: (number | null)[]}} Course */

/** @param {Course} course @param {number} rate @param {number} bound of the delay in bit times, or 0
 * @param {number | null} fair over all of the run */
export function charts(course, rate, bound, fair) {
  const micros = (/** @type {number} */ bits) => (bits / rate) * 1e6;
  const delays = course.mac_delay_bt.map((delay) => (delay === null ? null : micros(delay)));
  const most = Math.max(1, ...delays.map((one) => one ?? 0), micros(bound));
  return [
    { title: "Utilization", unit: "of the rate", most: 1, bound: 0, whole: null, values: course.utilization },
    { title: "Delay in the MAC", unit: "µs", most, bound: micros(bound), whole: null, values: delays },
    { title: "Fairness", unit: "Jain’s index", most: 1, bound: 0, whole: fair, values: course.fairness },
  ];
}

/** @param {number} value */
export const short = (value) => (value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(2));

/** Draws a chart into an element. @param {HTMLElement} into @param {ReturnType<typeof charts>[number]} chart @param {number} part of the run that is over */
export function show(into, chart, part) {
  const { values, most } = chart;
  const x = (/** @type {number} */ at) => ((at + 0.5) / values.length) * WIDE;
  const y = (/** @type {number} */ value) => HIGH - 3 - (value / most) * (HIGH - 8);
  let line = "";
  values.forEach((value, at) => {
    if (value !== null) line += `${at && values[at - 1] !== null ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
  });
  const known = values.filter((value) => value !== null);
  const mean = known.length ? known.reduce((all, one) => all + one, 0) / known.length : null;
  const whole = chart.whole === null ? "on average" : `in a piece of the run, ${short(chart.whole)} over all of it`;
  const told = mean === null ? "nothing yet" : `${short(mean)} ${chart.unit}, ${whole}`;
  const bound = chart.bound ? `<line class="bound" x1="0" x2="${WIDE}" y1="${y(chart.bound)}" y2="${y(chart.bound)}"/>` : "";
  const theory = chart.bound ? `<p class="faint">dashed: from the head of the queue to the first bit at most ${short(chart.bound)} ${chart.unit} (148.4.4)</p>` : "";
  into.innerHTML = `<h3>${chart.title}</h3><p><b>${told}</b></p><svg viewBox="0 0 ${WIDE} ${HIGH}" preserveAspectRatio="none" role="img"
    aria-label="${chart.title} over the run: ${told}; the scale ends at ${short(most)}"><line class="zero" x1="0" x2="${WIDE}" y1="${HIGH - 3}" y2="${HIGH - 3}"/>
    ${bound}<path d="${line}"/><line class="now" x1="${part * WIDE}" x2="${part * WIDE}" y1="0" y2="${HIGH}"/></svg>
    <p class="scale"><span>0</span><span>top: ${short(most)} ${chart.unit}</span></p>${theory}`;
}
