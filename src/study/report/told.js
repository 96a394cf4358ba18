// The first half of a page's script: unpacks the events and signals of a run, and tells them in the words that
// `ethbus explain` has. It knows no page. `page.js` draws.
const Ethbus = (() => {
  "use strict";

  // Words: the templates come with the page, so that they are those of `explain`.
  const group = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const fill = (template, values) =>
    Object.entries(values).reduce((text, [name, value]) => text.split(`{${name}}`).join(value), template);
  const name = (run, station, serial) => `${run.names[station]}#${serial}`;
  function nanos(ns) {
    const [value, unit] = ns < 1e3 ? [ns, "ns"] : ns < 1e6 ? [ns / 1e3, "us"] : ns < 1e9 ? [ns / 1e6, "ms"] : [ns / 1e9, "s"];
    // An odd sixteenth is just between two thousandths: every window takes the even one, and `toFixed` the larger.
    const larger = Math.ceil(value * 1e3), between = Math.abs((value * 16) % 2) === 1;
    const near = between && larger % 2 ? (larger - 1) / 1e3 : value;
    return `${near.toFixed(3).replace(/0+$/, "").replace(/\.$/, "")} ${unit}`;
  }
  function real(run, bits) {
    const seconds = Math.floor(bits / run.rate), rest = bits % run.rate;
    return nanos(seconds * 1e9 + Math.ceil((rest * 1e9) / run.rate));
  }
  const span = (run, bits) => `${group(bits)} BT (${real(run, bits)})`;

  function distance(run, one, b) {
    const { star, bus, matrix } = run.topology, a = one.of;
    if (one.ways || a === b) return one.ways ? one.ways[b] : 0;
    return star !== undefined ? star : bus ? Math.abs(bus[a] - bus[b]) : matrix[a][b];
  }

  // Undoes `pack.rs`.
  function unpack(run, octets) {
    const n = run.count;
    const events = {
      n, t: new Float64Array(n), kind: new Uint8Array(n), of: new Uint16Array(n), at: new Uint16Array(n),
      serial: new Float64Array(n), first: new Uint32Array(n + 1), fields: new Float64Array(4 * n + 16),
    };
    const counts = run.kinds.map(([, fields]) => fields.length);
    const serials = new Float64Array(run.names.length);
    let place = 0, used = 0, t = run.packed_from;
    const number = () => {
      let value = 0, scale = 1, octet;
      do { octet = octets[place++]; value += (octet & 127) * scale; scale *= 128; } while (octet & 128);
      return value;
    };
    for (let i = 0; i < n; i++) {
      t += number();
      const code = number(), kind = code & 31;
      events.t[i] = t;
      events.kind[i] = kind;
      const of = (events.of[i] = number());
      events.at[i] = code & 32 ? number() : of;
      const folded = number();
      events.serial[i] = serials[of] += folded % 2 ? -(folded + 1) / 2 : folded / 2;
      events.first[i] = used;
      if (used + 16 > events.fields.length) {
        const more = new Float64Array(2 * events.fields.length);
        more.set(events.fields);
        events.fields = more;
      }
      for (let field = 0; field < counts[kind]; field++) events.fields[used++] = number();
    }
    events.first[n] = used;
    return events;
  }

  // Undoes `signals.rs`: signals as they were on the medium, in order of begin.
  function signals(run, octets) {
    const all = [], serials = new Float64Array(run.names.length), parts = [];
    let place = 0, begin = 0;
    const number = () => {
      let value = 0, scale = 1, octet;
      do { octet = octets[place++]; value += (octet & 127) * scale; scale *= 128; } while (octet & 128);
      return value;
    };
    for (let i = 0; i < run.signals; i++) {
      begin += number();
      const of = number(), about = number(), folded = number();
      serials[about] += folded % 2 ? -(folded + 1) / 2 : folded / 2;
      const one = { of, about, serial: serials[about], attempt: number(), begin, event: number() - 1, noticed: number() - 1,
        ended: number() - 1, jam: run.jams[number()], far: run.cuts[number() - 1] || null, parts: parts.length };
      const count = number();
      one.open = count % 2 === 1;
      one.end = begin;
      for (let part = 0; part < Math.floor(count / 2); part++) {
        const which = run.parts[number()], from = one.end;
        one.end += number();
        parts.push([which, from, one.end]);
      }
      one.last = parts.length;
      if (run.topology.matrix === null) one.ways = run.names.map(number);
      all.push(one);
    }
    const kinds = Object.fromEntries(run.kinds.map(([kind], number) => [kind, number]));
    return { all, parts, longest: run.longest_signal, kinds };
  }

  // What events say of the collisions of signals.
  function collide(scene, events) {
    for (const one of scene.all) {
      const i = one.noticed, f = i < 0 ? 0 : events.first[i];
      Object.assign(one, i < 0 ? { collision: null, late: 0, episode: 0 }
        : { collision: events.t[i], late: events.fields[f + 1], episode: events.fields[f + 2] });
    }
    return scene;
  }

  const reaches = (run, one, station) => (!one.far || one.far[station] === one.far[one.of])
    && (!run.in_range || run.in_range[one.of][station]);

  // Whether a signal is drawn for a station: `Layout::shows`.
  const shows = (run, one, station) => (run.shape === "senders" ? one.of === station : reaches(run, one, station));

  // The first of `list` whose begin is not before `t`.
  function since(list, t) {
    let low = 0, high = list.length;
    while (low < high) { const middle = (low + high) >> 1; if (list[middle].begin < t) low = middle + 1; else high = middle; }
    return low;
  }

  // What a signal consists of: part, from, to, at its sender's place.
  const parts = (scene, one) => scene.parts.slice(one.parts, one.last);

  // Whose signals sound at the place of `station` at `t`, in order of begin.
  function sounding(run, scene, station, t) {
    const found = [];
    for (let i = since(scene.all, t - scene.longest - run.longest - 1); i < scene.all.length; i++) {
      const one = scene.all[i];
      if (one.begin > t) break;
      const d = distance(run, one, station);
      if (reaches(run, one, station) && one.begin + d <= t && (one.open || one.end + d > t)) found.push(one);
    }
    return found;
  }

  function collision(run, scene, one, t) {
    const words = run.words, station = run.names[one.of];
    const all = sounding(run, scene, one.of, t).filter((other) => other.of !== one.of), more = all.length - run.named;
    const met = all.slice(0, run.named).map((other) => {
      const d = distance(run, other, one.of), apart = d ? fill(words.apart, { span: span(run, d) }) : "";
      const frame = name(run, other.about, other.serial), between = Math.abs(other.begin - one.begin);
      const template = !between ? words.met_at_once : other.begin < one.begin ? words.met_earlier : words.met_later;
      return fill(template, { frame, span: span(run, between), apart });
    });
    const sent = t - one.begin;
    const late = !one.late ? "" : sent > run.slot ? fill(words.late, { slot: span(run, run.slot) }) : words.late_in_burst;
    const jam = words[one.jam];
    return fill(words.collision, { episode: one.episode, sent: span(run, sent), station, late, jam,
      met: !met.length ? words.met_unknown : met.join("; and ") + (more > 0 ? fill(words.met_more, { more: group(more) }) : "") });
  }

  // A collision of a method whose stations do not tell whom they met.
  function metBlindly(run, station, f) {
    const words = run.words, template = run.method === "plca" ? words.met_on_line : words.collision;
    return f.episode ? fill(template, { episode: f.episode, attempt: f.attempt, station }) : words.told_to_wait;
  }

  // When a timer ends that a station starts at t, by its clock, as `Clock::after` in crates/medium.
  function later(run, station, t, bits) {
    const ppm = run.clocks?.[station], million = 1000000n;
    if (!ppm || !bits) return t + bits;
    const nearest = (count, by, of) => (count * by * 2n + of) / (of * 2n), rate = million + BigInt(ppm);
    return Math.max(t + 1, Number(nearest(nearest(BigInt(t), rate, million) + BigInt(bits), million, rate)));
  }

  function until(run, slots, t, station) {
    if (slots === 0) return run.words.backoff_none;
    const end = later(run, station, t, run.slot * slots);
    return fill(run.words.backoff_until, { slots, slot: group(run.slot), delay: span(run, end - t), t: group(end) });
  }

  // A backoff that is not the standard's.
  const ofPolicy = (run, f, t, station) => fill(run.words.backoff_of_policy, { attempt: f.attempt, slots: group(f.slots),
    until: until(run, f.slots, t, station) });

  // An event in a sentence.
  function sentence(run, events, scene, i) {
    const words = run.words, [kind, fields] = run.kinds[events.kind[i]], f = {};
    fields.forEach((field, number) => { f[field] = events.fields[events.first[i] + number]; });
    const station = run.names[events.at[i]], t = events.t[i];
    switch (kind) {
      case "collision": {
        if (run.method !== "csma-cd") return metBlindly(run, station, f);
        const one = scene.all.find((one) => one.noticed === i);
        return one ? collision(run, scene, one, t) : `Collision ${f.episode} on this medium (4.2.3.2.4).`;
      }
      case "jam_end": {
        const nothing = run.method === "plca" && !scene.all.some((one) => one.ended === i);
        return fill(nothing ? words.jam_into_nothing : words.jam_end, { jam: span(run, run.jam) });
      }
      case "backoff": {
        if (!run.detects) return fill(words.backoff, { station, slots: group(f.slots), unit: f.slots === 1 ? words.unit : words.units });
        if (run.policy) return ofPolicy(run, f, t, events.at[i]);
        const exponent = Math.min(f.attempt, run.backoff_limit);
        return fill(words.backoff, { attempt: f.attempt, exponent, most: group(2 ** exponent - 1), slots: f.slots,
          limited: exponent < f.attempt ? words.backoff_limited : "", until: until(run, f.slots, t, events.at[i]) });
      }
      case "transmitted": return fill(words.transmitted, { station, size: f.size, attempts: f.attempts,
        extended: f.extension ? fill(words.extended, { span: span(run, f.extension) }) : "",
        access: span(run, f.access_delay), mac: span(run, f.mac_delay), deaf: f.no_carrier ? words.no_carrier : "" });
      case "attempt": return fill(words.attempt, { station, attempt: f.attempt, clause: run.clause ? ` (${run.clause})` : "",
        limit: run.attempt_limit ? fill(words.attempt_of, { limit: run.attempt_limit }) : "" });
      case "discarded": return fill(words.discarded, { attempts: f.attempts, cause: run.causes[f.cause] });
      case "beacon": return fill(words.beacon, { station, over: !f.length ? "" : fill(words.cycle,
        { span: span(run, f.length), empty: f.empty ? fill(words.cycles_empty, { empty: f.empty }) : "" }) });
      case "plca_status": return f.ok ? words.plca_ok : words.plca_fail;
      default: return fill(words[kind], { station, ...f, reserves: span(run, f.reserves || 0) });
    }
  }

  function octets(text) {
    const letters = atob(text.trim()), all = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) all[i] = letters.charCodeAt(i);
    return all;
  }

  return { group, name, real, distance, unpack, signals, collide, parts, reaches, shows, since, sounding, sentence, octets };
})();
if (typeof document === "undefined") module.exports = Ethbus;
