// @ts-check
// A scenario as TOML text. The text is the only state: controls read keys from it and write keys into it, and leave every
// other line as it is.

const HEAD = /^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}/;

/** Lines of the section of this name, from and to; its number among those of the same name.
 * @param {string[]} lines @param {string} section @param {number} [number] @returns {[number, number] | null} */
function span(lines, section, number = 0) {
  let at = section === "" ? -1 : lines.findIndex((line) => HEAD.exec(line)?.[1] === section && number-- === 0);
  if (at < 0 && section !== "") return null;
  const end = lines.findIndex((line, place) => place > at && HEAD.test(line));
  return [at + 1, end < 0 ? lines.length : end];
}

/** @param {string} key */
const assigned = (key) => new RegExp(`^\\s*${key}\\s*=\\s*("[^"]*"|[^#]*)`);

/** The value of a key, without quotes. @param {string} text @param {string} section @param {string} key @param {number} [number] */
function get(text, section, key, number = 0) {
  const lines = text.split("\n");
  const found = span(lines, section, number);
  for (const line of found ? lines.slice(...found) : []) {
    const value = assigned(key).exec(line)?.[1];
    if (value !== undefined) return value.trim().replace(/^"|"$/g, "");
  }
  return undefined;
}

/** The text with this key. No value takes the key out. Numbers are written bare.
 * @param {string} text @param {string} section @param {string} key @param {string | number | undefined} value @param {number} [number] */
function set(text, section, key, value, number = 0) {
  const lines = text.split("\n");
  if (section !== "" && !span(lines, section, number)) {
    if (value === undefined) return text;
    if (lines.at(-1)?.trim()) lines.push("");
    lines.splice(lines.length, 0, `[${section}]`);
  }
  const [from, to] = /** @type {[number, number]} */ (span(lines, section, number));
  const own = lines.slice(from, to).findIndex((line) => assigned(key).test(line));
  const written = value === undefined ? [] : [`${key} = ${typeof value === "number" ? value : `"${value}"`}`];
  let end = to;
  while (end > from && !lines[end - 1].trim()) end -= 1;
  lines.splice(own < 0 ? end : from + own, own < 0 ? 0 : 1, ...written);
  return lines.join("\n");
}

/** @param {string} text */
const sections = (text) => text.split("\n").filter((line) => /^\s*\[\[\s*station\s*\]\]/.test(line)).length;

/** @param {string} text */
const stations = (text) => sections(text) || Number(get(text, "", "stations") ?? 2);

/** The text with this number of stations. @param {string} text @param {number} count */
function withStations(text, count) {
  if (!sections(text)) return set(text, "", "stations", count);
  let lines = text.split("\n");
  while (sections(lines.join("\n")) > count) {
    const [from, to] = /** @type {[number, number]} */ (span(lines, "station", sections(lines.join("\n")) - 1));
    lines.splice(from - 1, to - from + 1);
  }
  while (sections(lines.join("\n")) < count) lines.push("[[station]]");
  return lines.join("\n");
}

/** The text with a section for each station. @param {string} text */
function spelt(text) {
  if (sections(text)) return text;
  const count = stations(text);
  return `${set(text, "", "stations", undefined).trimEnd()}\n\n${"[[station]]\n".repeat(count)}`;
}

/** For the page's address. @param {string} text */
function packed(text) {
  const octets = new TextEncoder().encode(text);
  return btoa(String.fromCharCode(...octets)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} address @returns {string | null} */
function fromAddress(address) {
  const own = /[#&]s=([\w-]+)/.exec(address)?.[1];
  if (!own) return null;
  try {
    const octets = atob(own.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(octets, (letter) => letter.charCodeAt(0)));
  } catch {
    return null;
  }
}

export const scenario = { get, set, stations, withStations, spelt, packed, fromAddress };
