// The page's script: unpacks the events of a run, draws them over place and time, and tells them in the words that
// `ethbus explain` has. It depends on nothing, and asks no network.
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

  function distance(run, a, b) {
    if (a === b) return 0;
    const { star, bus, matrix } = run.topology;
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
      const d = distance(run, one.of, station);
      if (reaches(run, one, station) && one.begin + d <= t && (one.open || one.end + d > t)) found.push(one);
    }
    return found;
  }

  function collision(run, scene, one, t) {
    const words = run.words, station = run.names[one.of];
    const met = sounding(run, scene, one.of, t).filter((other) => other.of !== one.of).map((other) => {
      const d = distance(run, other.of, one.of), apart = d ? fill(words.apart, { span: span(run, d) }) : "";
      const frame = name(run, other.about, other.serial), between = Math.abs(other.begin - one.begin);
      const template = !between ? words.met_at_once : other.begin < one.begin ? words.met_earlier : words.met_later;
      return fill(template, { frame, span: span(run, between), apart });
    });
    const sent = t - one.begin;
    const late = !one.late ? "" : sent > run.slot ? fill(words.late, { slot: span(run, run.slot) }) : words.late_in_burst;
    const jam = words[one.jam];
    return fill(words.collision, { episode: one.episode, sent: span(run, sent), station, late, jam,
      met: met.length ? met.join("; and ") : words.met_unknown });
  }

  // A collision of a method whose stations do not tell whom they met.
  function metBlindly(run, station, f) {
    const words = run.words, template = run.method === "plca" ? words.met_on_line : words.unanswered;
    return f.episode ? fill(template, { episode: f.episode, attempt: f.attempt, station }) : words.told_to_wait;
  }

  const until = (run, slots, t) => slots === 0 ? run.words.backoff_none : fill(run.words.backoff_until,
    { slots, slot: group(run.slot), delay: span(run, run.slot * slots), t: group(t + run.slot * slots) });

  // A backoff that is not the standard's.
  const ofPolicy = (run, f, t) => fill(run.words.backoff_of_policy, { attempt: f.attempt, slots: group(f.slots),
    until: run.detects ? `; ${until(run, f.slots, t)}` : "" });

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
        if (run.policy) return ofPolicy(run, f, t);
        const exponent = Math.min(f.attempt, run.backoff_limit);
        return fill(words.backoff, { attempt: f.attempt, exponent, most: group(2 ** exponent - 1), slots: f.slots,
          limited: exponent < f.attempt ? words.backoff_limited : "", until: until(run, f.slots, t) });
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
      default: return words[kind] ? fill(words[kind], { station, ...f }) : `${kind} ${JSON.stringify(f)}`;
    }
  }

  const PARTS = { preamble: "preamble and SFD", frame: "frame", jam: "jam", extension: "extension bits", RTS: "RTS", CTS: "CTS",
    ACK: "ACK", BEACON: "BEACON", COMMIT: "COMMIT" };
  const COLOURS = [["#2f6db3", "#6ea8e8"], ["#c96a12", "#f0a050"], ["#2f8a57", "#62c492"], ["#8a4fa3", "#c48fdd"],
    ["#a8332f", "#ec8480"], ["#6b6a1c", "#c0be62"]];
  const DENSITY = { preamble: 0.28, frame: 0.5, extension: 0.15, jam: 0.78, RTS: 0.35, CTS: 0.35, ACK: 0.35, BEACON: 0.7, COMMIT: 0.15 };

  // The diagram of one run.
  class Diagram {
    constructor(section, run, events, scene) {
      Object.assign(this, { section, run, events, scene, selected: -1, waiting: false });
      this.canvas = section.querySelector("canvas");
      this.told = section.querySelector("output");
      this.tip = section.querySelector(".tip");
      this.dark = matchMedia("(prefers-color-scheme: dark)");
      const last = Math.max(1, run.places.length - 1);
      const low = run.topology.bus ? run.topology.bus[run.places[0]] : 0;
      const high = run.topology.bus ? run.topology.bus[run.places[last]] ?? low : 0;
      this.part = run.places.map((station, i) => high > low ? (run.topology.bus[station] - low) / (high - low) : i / last);
      this.column = [];
      run.places.forEach((station, i) => { this.column[station] = this.part[i]; });
      this.whole();
      this.listen();
      this.open();
    }
    whole() { this.from = this.run.packed_from; this.to = Math.max(this.from + 8, this.run.end + this.run.longest); this.draw(); }
    open() {
      const wanted = new URLSearchParams(location.hash.slice(1));
      let i = this.run.open;
      if (wanted.has("t")) { const t = Number(wanted.get("t")); i = this.events.t.findIndex((at) => at >= t); }
      if (i >= 0) this.select(i, true);
    }
    x(station) { return this.left + this.column[station] * (this.right - this.left); }
    y(t) { return this.top + ((t - this.from) / (this.to - this.from)) * (this.bottom - this.top); }
    time(y) { return this.from + ((y - this.top) / (this.bottom - this.top)) * (this.to - this.from); }
    colour(station) { return COLOURS[station % COLOURS.length][this.dark.matches ? 1 : 0]; }
    draw() { if (!this.waiting) { this.waiting = true; requestAnimationFrame(() => { this.waiting = false; this.paint(); }); } }
    paint() {
      const scale = devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = this.canvas;
      if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
        this.canvas.width = Math.round(width * scale); this.canvas.height = Math.round(height * scale);
      }
      const pen = this.canvas.getContext("2d"), style = getComputedStyle(this.canvas);
      Object.assign(this, { left: 128, right: width - 44, top: 44, bottom: height - 12 });
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      pen.clearRect(0, 0, width, height);
      pen.font = `12px ${style.fontFamily}`;
      this.ticks(pen, style, width);
      const shown = this.shown();
      pen.save();
      pen.beginPath(); pen.rect(0, this.top, width, this.bottom - this.top); pen.clip();
      const fine = shown.length * Math.min(this.run.places.length, 64) < 40000;
      if (shown.length > 4000) this.rows(pen, style, shown);
      else {
        shown.forEach((one) => (fine ? this.band(pen, one) : this.bar(pen, one)));
        shown.forEach((one) => { if (one.collision !== null) this.cross(pen, style, one, fine); });
      }
      this.cursor(pen, style, width);
      pen.restore();
    }
    shown() {
      const all = this.scene.all, found = [];
      for (let i = since(all, this.from - this.scene.longest - this.run.longest); i < all.length && all[i].begin <= this.to; i++) {
        if (all[i].end + this.run.longest >= this.from) found.push(all[i]);
      }
      return found;
    }
    ticks(pen, style, width) {
      const least = (this.to - this.from) / 9, steps = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
      const step = steps.find((step) => step >= least) || 10 ** Math.ceil(Math.log10(least));
      pen.fillStyle = style.getPropertyValue("--faint"); pen.strokeStyle = style.getPropertyValue("--line"); pen.lineWidth = 1;
      for (let t = Math.max(0, Math.ceil(this.from / step) * step); t <= this.to; t += step) {
        const y = this.y(t);
        pen.beginPath(); pen.moveTo(this.left - 6, y); pen.lineTo(width - 20, y); pen.stroke();
        pen.textAlign = "right"; pen.fillText(`${group(t)} BT`, this.left - 12, y + 4);
      }
      let taken = -Infinity;
      pen.strokeStyle = style.getPropertyValue("--faint");
      this.run.places.forEach((station) => {
        const x = this.x(station), half = pen.measureText(this.run.names[station]).width / 2;
        pen.beginPath(); pen.moveTo(x, this.top - 6); pen.lineTo(x, this.bottom); pen.stroke();
        if (x - half > taken + 6) {
          pen.textAlign = "center"; pen.fillStyle = style.getPropertyValue("--ink");
          pen.fillText(this.run.names[station], x, this.top - 14);
          taken = x + half;
        }
      });
      pen.textAlign = "right"; pen.fillStyle = style.getPropertyValue("--faint");
      pen.fillText("time", this.left - 46, this.top - 14);
    }
    band(pen, one) {
      pen.fillStyle = this.colour(one.of);
      for (const [part, from, to] of parts(this.scene, one)) {
        pen.globalAlpha = DENSITY[part];
        let stretch = [];
        const flush = () => {
          if (!stretch.length) return;
          pen.beginPath();
          const wide = stretch.length === 1 ? 10 : 0, ends = wide ? [stretch[0], stretch[0]] : stretch;
          const x = (station, i) => this.x(station) + (wide ? (i ? wide : -wide) : 0);
          ends.forEach((station, i) => pen.lineTo(x(station, i), this.y(from + distance(this.run, one.of, station))));
          for (let i = ends.length - 1; i >= 0; i--) pen.lineTo(x(ends[i], i), this.y(to + distance(this.run, one.of, ends[i])));
          pen.closePath(); pen.fill();
          stretch = [];
        };
        for (const station of this.run.places) { if (reaches(this.run, one, station)) stretch.push(station); else flush(); }
        flush();
      }
      pen.globalAlpha = 1;
      const y = this.y(one.begin);
      if (this.y(one.end) - y > 26) {
        const x = this.x(one.of), far = x > (this.left + this.right) / 2;
        pen.textAlign = far ? "right" : "left"; pen.fillStyle = getComputedStyle(this.canvas).getPropertyValue("--ink");
        pen.fillText(name(this.run, one.about, one.serial), x + (far ? -8 : 8), Math.max(y, this.top) + 14);
      }
    }
    bar(pen, one) {
      pen.fillStyle = this.colour(one.of); pen.globalAlpha = 0.8;
      const y = this.y(one.begin);
      pen.fillRect(this.x(one.of) - 4, y, 8, Math.max(0.5, this.y(one.end) - y));
      pen.globalAlpha = 1;
    }
    // Far out: for each row of pixels, which part of its time a station sends, and whether it notices collisions.
    rows(pen, style, shown) {
      const count = Math.ceil(this.bottom - this.top), scale = count / (this.to - this.from), stations = this.run.names.length;
      const sent = new Float32Array(count * stations), met = new Uint8Array(count * stations);
      for (const one of shown) {
        const begin = (one.begin - this.from) * scale, end = (one.end - this.from) * scale;
        for (let row = Math.max(0, Math.floor(begin)); row < Math.min(count, end); row++) {
          sent[one.of * count + row] += Math.min(end, row + 1) - Math.max(begin, row);
        }
        const row = one.collision === null ? -1 : Math.floor((one.collision - this.from) * scale);
        if (row >= 0 && row < count) met[one.of * count + row] = 1;
      }
      for (let of = 0; of < stations; of++) {
        const x = this.x(of);
        pen.fillStyle = this.colour(of);
        for (let row = 0; row < count; row++) {
          const part = sent[of * count + row];
          if (part > 0) { pen.globalAlpha = Math.min(1, 0.15 + part); pen.fillRect(x - 5, this.top + row, 10, 1); }
        }
        pen.globalAlpha = 1; pen.fillStyle = style.getPropertyValue("--mark");
        for (let row = 0; row < count; row++) if (met[of * count + row]) pen.fillRect(x + 7, this.top + row, 3, 1);
      }
    }
    cross(pen, style, one, fine) {
      const x = this.x(one.of), y = this.y(one.collision), size = fine ? 5 : 2;
      pen.strokeStyle = style.getPropertyValue("--mark"); pen.lineWidth = fine ? 2.5 : 1;
      pen.beginPath(); pen.moveTo(x - size, y - size); pen.lineTo(x + size, y + size);
      pen.moveTo(x - size, y + size); pen.lineTo(x + size, y - size); pen.stroke();
    }
    cursor(pen, style, width) {
      if (this.selected < 0) return;
      const y = this.y(this.events.t[this.selected]), x = this.x(this.events.at[this.selected]);
      pen.strokeStyle = style.getPropertyValue("--ink"); pen.lineWidth = 1; pen.setLineDash([4, 4]);
      pen.beginPath(); pen.moveTo(this.left - 6, y); pen.lineTo(width - 20, y); pen.stroke(); pen.setLineDash([]);
      pen.beginPath(); pen.arc(x, y, 9, 0, 7); pen.stroke();
    }
    // Selects an event, tells it, and brings it into view.
    select(i, near) {
      if (i < 0 || i >= this.events.n) return;
      this.selected = i;
      const t = this.events.t[i], frame = name(this.run, this.events.of[i], this.events.serial[i]);
      this.told.textContent = `t = ${group(t)} BT, ${frame}: ${sentence(this.run, this.events, this.scene, i)}`;
      // Without collision detection a sender learns of a collision when its signal is over: both are in view.
      const { at, of, serial } = this.events;
      const own = (one) => one.begin <= t && one.of === at[i] && one.about === of[i] && one.serial === serial[i];
      const signal = near && this.scene.all.findLast(own);
      const begin = signal && signal.end <= t ? signal.begin : t;
      const span = near ? Math.max(512, 4 * this.run.longest, 1.5 * (t - begin)) : this.to - this.from;
      if (near || t < this.from || t > this.to) {
        this.from = Math.max(Math.min(t - span / 3, begin - span / 8), this.run.packed_from - span / 16);
        this.to = this.from + span;
      }
      this.draw();
    }
    zoom(factor, t = (this.from + this.to) / 2) {
      const most = this.run.end + this.run.longest - this.run.packed_from + 64;
      const span = Math.min(most, Math.max(8, (this.to - this.from) * factor)), part = (t - this.from) / (this.to - this.from);
      this.from = t - part * span; this.to = this.from + span; this.pan(0);
    }
    pan(bits) {
      const span = this.to - this.from;
      this.from = Math.min(Math.max(this.from + bits, this.run.packed_from - span / 2), this.run.end + span / 2);
      this.to = this.from + span; this.draw();
    }
    next(way, wanted) {
      let i = this.selected < 0 ? this.events.t.findIndex((t) => t >= this.from) - (way > 0 ? 1 : 0) : this.selected;
      do i += way; while (i >= 0 && i < this.events.n && !wanted(i));
      this.select(i, false);
    }
    key(key) {
      const step = (this.to - this.from) / 8, { kind, first, fields } = this.events;
      // A logical collision of PLCA has the episode 0, and is none.
      const collides = (i) => kind[i] === this.scene.kinds.collision && fields[first[i] + 2] > 0;
      switch (key) {
        case "+": case "=": this.zoom(0.5, this.selected < 0 ? undefined : this.middle()); break;
        case "-": this.zoom(2, this.selected < 0 ? undefined : this.middle()); break;
        case "ArrowDown": this.pan(step); break;
        case "ArrowUp": this.pan(-step); break;
        case "PageDown": this.pan(8 * step); break;
        case "PageUp": this.pan(-8 * step); break;
        case "ArrowRight": this.next(1, () => true); break;
        case "ArrowLeft": this.next(-1, () => true); break;
        case "n": this.next(1, collides); break;
        case "N": this.next(-1, collides); break;
        case "Home": case "0": this.whole(); break;
        default: return false;
      }
      return true;
    }
    // The selected event if it is in view, else the middle.
    middle() { const t = this.events.t[this.selected]; return t >= this.from && t <= this.to ? t : (this.from + this.to) / 2; }
    hover(x, y) {
      const t = this.time(y), run = this.run;
      const near = this.shown().find((one) => one.collision !== null && Math.hypot(this.x(one.of) - x, this.y(one.collision) - y) < 10);
      if (near) return `t = ${group(near.collision)} BT, ${name(run, near.about, near.serial)}: ${sentence(run, this.events, this.scene, near.noticed)}`;
      if (x < this.left - 20 || x > this.right + 20 || y < this.top || y > this.bottom) return "";
      const gap = (station) => Math.abs(this.x(station) - x);
      const station = run.places.reduce((best, station) => (gap(station) < gap(best) ? station : best), run.places[0]);
      const told = sounding(run, this.scene, station, t).map((one) => {
        const d = distance(run, one.of, station), part = parts(this.scene, one).find(([, from, to]) => from + d <= t && t < to + d);
        const attempt = one.attempt ? `, attempt ${one.attempt}` : "";
        const whose = one.serial ? name(run, one.about, one.serial) : run.names[one.of];
        return part ? `${PARTS[part[0]]} of ${whose}${attempt}, here from ${group(part[1] + d)} to ${group(part[2] + d)} BT` : "";
      }).filter(Boolean);
      const heard = told.length ? told.join("; and ") : "silence";
      return `t = ${group(Math.round(t))} BT at ${run.names[station]}: ${heard}`;
    }
    listen() {
      const canvas = this.canvas;
      let held = null;
      canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.time(event.offsetY)); }, { passive: false });
      canvas.addEventListener("pointerdown", (event) => { held = event.offsetY; canvas.setPointerCapture(event.pointerId); });
      canvas.addEventListener("pointerup", () => { held = null; });
      canvas.addEventListener("pointermove", (event) => {
        if (held !== null) { this.pan(this.time(held) - this.time(event.offsetY)); held = event.offsetY; }
        const told = this.hover(event.offsetX, event.offsetY);
        this.tip.textContent = told; this.tip.hidden = !told;
        this.tip.style.left = `${Math.min(event.offsetX + 14, canvas.clientWidth - 330)}px`; this.tip.style.top = `${event.offsetY + 14}px`;
      });
      canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
      canvas.addEventListener("keydown", (event) => { if (!event.ctrlKey && !event.metaKey && this.key(event.key)) event.preventDefault(); });
      this.section.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => { this.key(button.dataset.key); canvas.focus(); }));
      addEventListener("resize", () => this.draw());
      this.dark.addEventListener("change", () => this.draw());
      addEventListener("hashchange", () => this.open());
    }
  }

  function octets(text) {
    const letters = atob(text.trim()), all = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) all[i] = letters.charCodeAt(i);
    return all;
  }

  function start() {
    const begin = performance.now();
    document.querySelectorAll("section.diagram").forEach((section) => {
      const run = JSON.parse(section.querySelector("script.run").textContent);
      const events = unpack(run, octets(section.querySelector("script.events").textContent));
      const scene = collide(signals(run, octets(section.querySelector("script.signals").textContent)), events);
      section.diagram = new Diagram(section, run, events, scene);
    });
    document.body.dataset.opened = Math.round(performance.now() - begin);
  }

  return { unpack, signals, collide, parts, reaches, sentence, octets, start };
})();
if (typeof document === "undefined") module.exports = Ethbus; else Ethbus.start();
