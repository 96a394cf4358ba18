// @ts-check
// The engine: WebAssembly that answers questions in JSON. Knows nothing of the page.

/** @typedef {{room: (octets: number) => number, ask: () => number, open: () => number, answered: () => number, memory: WebAssembly.Memory}} Face */

export class Engine {
  /** @param {WebAssembly.Exports} exports */
  constructor(exports) {
    this.face = /** @type {Face} */ (/** @type {unknown} */ ({
      room: exports.page_room, ask: exports.page_ask, open: exports.page_open, answered: exports.page_answered, memory: exports.memory,
    }));
  }

  /** @param {BufferSource} code @returns {Promise<Engine>} */
  static async of(code) {
    const { instance } = await WebAssembly.instantiate(code, {});
    return new Engine(instance.exports);
  }

  /** @param {Uint8Array} octets @param {() => number} answering */
  of(octets, answering) {
    const room = this.face.room(octets.length);
    new Uint8Array(this.face.memory.buffer, room, octets.length).set(octets);
    const answer = answering();
    return new TextDecoder().decode(new Uint8Array(this.face.memory.buffer, answer, this.face.answered()));
  }

  /** The answer as text. @param {object} question @returns {string} */
  text(question) {
    return this.of(new TextEncoder().encode(JSON.stringify(question)), this.face.ask);
  }

  /** The answer. An error of the program's is thrown with its sentence. @param {object} question @returns {any} */
  ask(question) {
    return told(this.text(question));
  }

  /** From now on questions are about this trace. @param {Uint8Array} trace */
  open(trace) {
    told(this.of(trace, this.face.open));
  }
}

/** @param {string} text */
function told(text) {
  const answer = JSON.parse(text);
  if (answer && answer.error) throw new Error(answer.error);
  return answer;
}

/** What was put into the page as gzip in base64. @param {string} packed @returns {Promise<ArrayBuffer>} */
export async function unpacked(packed) {
  const octets = Uint8Array.from(atob(packed.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([octets]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
