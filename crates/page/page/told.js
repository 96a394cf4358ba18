// @ts-check
// What a program told of a stretch of a run, where the page has no engine. It answers what an engine would, for that stretch.

/** @typedef {{t: number, kind: string, frame: string, says: string}} Row */

export class Told {
  /** @param {{from: number, to: number, rows: Row[], signals: any[]}} told @param {string} missing */
  constructor(told, missing) {
    this.told = told;
    this.missing = missing;
  }

  /** @param {any} question @returns {any} */
  ask(question) {
    const { rows, signals } = this.told;
    switch (question.ask) {
      case "scene":
        return signals.filter((one) => one.begin < question.to && one.there.some((/** @type {any} */ at) => at && at[1] > question.from));
      case "rows":
        return rows.filter((row) => row.t <= question.to).slice(-question.most);
      case "next":
        return rows.find((row) => row.t > question.after && (question.kind === null || row.kind === question.kind))?.t ?? null;
      default:
        throw new Error(this.missing);
    }
  }
}
