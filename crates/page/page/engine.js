// @ts-check
// The engine: WebAssembly that answers questions in JSON. Knows nothing of the page.

/** @typedef {{room: (octets: number) => number, ask: () => number, answered: () => number, memory: WebAssembly.Memory}} Face */

export class Engine {
  /** @param {WebAssembly.Exports} exports */
  constructor(exports) {
    this.face = /** @type {Face} */ (/** @type {unknown} */ ({
      room: exports.page_room, ask: exports.page_ask, answered: exports.page_answered, memory: exports.memory,
    }));
  }

  /** @param {BufferSource} code @returns {Promise<Engine>} */
  static async of(code) {
    const { instance } = await WebAssembly.instantiate(code, {});
    return new Engine(instance.exports);
  }

  /** The answer as text. @param {object} question @returns {string} */
  text(question) {
    const asked = new TextEncoder().encode(JSON.stringify(question));
    const room = this.face.room(asked.length);
    new Uint8Array(this.face.memory.buffer, room, asked.length).set(asked);
    const answer = this.face.ask();
    return new TextDecoder().decode(new Uint8Array(this.face.memory.buffer, answer, this.face.answered()));
  }

  /** The answer. An error of the program's is thrown with its sentence. @param {object} question @returns {any} */
  ask(question) {
    const answer = JSON.parse(this.text(question));
    if (answer && answer.error) throw new Error(answer.error);
    return answer;
  }
}

/** What `packaging/page.sh` put into the page: gzip in base64. @param {string} packed @returns {Promise<ArrayBuffer>} */
export async function unpacked(packed) {
  const octets = Uint8Array.from(atob(packed.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([octets]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
