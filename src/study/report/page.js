// The second half of a page's script: draws a run over place and time, and answers its reader's hand. What is told
// comes from `told.js`. It depends on nothing else, and asks no network.
(() => {
  "use strict";

  const { group, name, real, distance, unpack, signals, collide, parts, shows, since, sounding, sentence, octets } = Ethbus;

  const PARTS = { preamble: "preamble and SFD", frame: "frame", jam: "jam", extension: "extension bits", RTS: "RTS", CTS: "CTS",
    ACK: "ACK", BEACON: "BEACON", COMMIT: "COMMIT" };
  const COLOURS = [["#2f6db3", "#6ea8e8"], ["#c96a12", "#f0a050"], ["#2f8a57", "#62c492"], ["#8a4fa3", "#c48fdd"],
    ["#a8332f", "#ec8480"], ["#6b6a1c", "#c0be62"]];
  const DENSITY = { preamble: 0.2, frame: 0.38, extension: 0.12, jam: 1, RTS: 0.3, CTS: 0.3, ACK: 0.3, BEACON: 0.8, COMMIT: 0.12 };
  // More signals than these are drawn as bars at their senders: where they meet can not be told apart.
  const MOST_MET = 700;

  // Fillings that are no colour: a hatch where signals meet, and dots for a jam. The same on a canvas and in SVG.
  const fillings = (paper, ink) => ({
    overlap: { size: 7, svg: `<path d="M0 0h7v7h-7z" fill="${paper}"/><path d="M-1 1l2 -2M0 7l7 -7M6 8l2 -2" stroke="${ink}" stroke-opacity=".55" stroke-width="1.2"/>`,
      draw(pen) {
        pen.fillStyle = paper; pen.fillRect(0, 0, 7, 7); pen.strokeStyle = ink; pen.globalAlpha = 0.55; pen.lineWidth = 1.2;
        for (const [x, y, side] of [[-1, 1, 2], [0, 7, 7], [6, 8, 2]]) { pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x + side, y - side); pen.stroke(); }
      } },
    ...Object.fromEntries(COLOURS.flatMap((both) => both.map((colour) => [`dots${colour.slice(1)}`, { size: 5,
      svg: `<circle cx="2.5" cy="2.5" r="1.6" fill="${colour}"/>`,
      draw(pen) { pen.fillStyle = colour; pen.beginPath(); pen.arc(2.5, 2.5, 1.6, 0, 7); pen.fill(); } }]))),
  });

  // Draws as a canvas does, into SVG.
  class SvgPen {
    constructor(width, height, own, fills) {
      Object.assign(this, { width, height, own, fills, used: new Set(), out: [], path: "", globalAlpha: 1, lineWidth: 1, dashes: "" });
    }
    number(value) { return Number(value.toFixed(2)); }
    at(x, y) { return `${this.number(x)} ${this.number(y)}`; }
    beginPath() { this.path = ""; }
    moveTo(x, y) { this.path += `M${this.at(x, y)}`; }
    lineTo(x, y) { this.path += `${this.path ? "L" : "M"}${this.at(x, y)}`; }
    closePath() { this.path += "Z"; }
    arc(x, y, r) { this.path += `M${this.at(x - r, y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; }
    rect(x, y, w, h) { this.path += `M${this.at(x, y)}h${this.number(w)}v${this.number(h)}h${this.number(-w)}Z`; }
    fill() { this.out.push(`<path d="${this.path}" fill="${this.fillStyle}" fill-opacity="${this.globalAlpha}"/>`); }
    stroke() { this.out.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${this.dashes}/>`); }
    fillRect(x, y, w, h) { const path = this.path; this.path = ""; this.rect(x, y, w, h); this.fill(); this.path = path; }
    clip() { this.out.push(`<clipPath id="in"><path d="${this.path}"/></clipPath><g clip-path="url(#in)">`); }
    save() {}
    restore() { this.out.push("</g>"); }
    setLineDash(dashes) { this.dashes = dashes.length ? ` stroke-dasharray="${dashes.join(" ")}"` : ""; }
    measureText(text) { return this.own.measureText(text); }
    filling(name) { this.used.add(name); return `url(#${name})`; }
    fillText(text, x, y, turn = 0) {
      const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
      const safe = text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
      const turned = turn ? ` transform="rotate(${turn} ${this.at(x, y)})"` : "";
      this.out.push(`<text x="${this.number(x)}" y="${this.number(y)}" text-anchor="${anchor}" fill="${this.fillStyle}"${turned}>${safe}</text>`);
    }
    text(paper, title, origin) {
      const patterns = [...this.used].map((name) => `<pattern id="${name}" width="${this.fills[name].size}" height="${this.fills[name].size}" patternUnits="userSpaceOnUse">${this.fills[name].svg}</pattern>`);
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="sans-serif" font-size="12">\n`
        + `<title>${title.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</title>${origin}\n<defs>${patterns.join("")}</defs>\n<rect width="100%" height="100%" fill="${paper}"/>\n${this.out.join("\n")}\n</svg>\n`;
    }
  }

  // The diagram of one run.
  class Diagram {
    constructor(section, run, events, scene) {
      Object.assign(this, { section, run, events, scene, selected: -1, followed: null, waiting: false });
      this.canvas = section.querySelector("canvas");
      this.told = section.querySelector("output");
      this.tip = section.querySelector(".tip");
      this.dark = matchMedia("(prefers-color-scheme: dark)");
      // For a room everything is drawn larger.
      this.larger = 1;
      const last = Math.max(1, run.places.length - 1);
      const low = run.topology.bus ? run.topology.bus[run.places[0]] : 0;
      const high = run.topology.bus ? run.topology.bus[run.places[last]] ?? low : 0;
      this.part = run.places.map((station, i) => run.shape !== "cable" ? (i + 0.5) / run.places.length
        : high > low ? (run.topology.bus[station] - low) / (high - low) : i / last);
      this.column = [];
      run.places.forEach((station, i) => { this.column[station] = this.part[i]; });
      this.whole();
      this.listen();
      this.open();
    }
    whole() { this.from = this.run.packed_from; this.to = Math.max(this.from + 8, this.run.end + this.run.longest); this.draw(); this.lead(); }
    open() {
      const wanted = new URLSearchParams(location.hash.slice(1));
      let i = this.run.open;
      if (wanted.has("t")) { const t = Number(wanted.get("t").replace(/,/g, "")); i = this.events.t.findIndex((at) => at >= t); }
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
      const { larger } = this;
      pen.setTransform(scale * larger, 0, 0, scale * larger, 0, 0);
      pen.clearRect(0, 0, width, height);
      pen.font = `12px ${style.fontFamily}`;
      this.picture(pen, style, width / larger, height / larger);
    }
    picture(pen, style, width, height) {
      const room = width - 44 - 128, labels = this.labels(pen, room);
      // Names that would touch each other are turned; those of one place follow each other.
      const touch = ({ x, length }, i) => i && x - labels[i - 1].x < (length + labels[i - 1].length) / 2 + 6;
      this.turned = labels.some(touch) || labels.some(({ stations }) => stations.length > 1);
      const high = Math.max(...labels.map(({ length }) => length));
      Object.assign(this, { named: labels, left: 128, right: width - 44, top: this.turned ? 30 + high : 44, bottom: height - 12 });
      this.ticks(pen, style, width);
      const shown = this.shown();
      pen.save();
      pen.beginPath(); pen.rect(0, this.top, width, this.bottom - this.top); pen.clip();
      const fine = shown.length < MOST_MET && shown.length * Math.min(this.run.places.length, 64) < 40000;
      if (shown.length > 4000) this.rows(pen, style, shown);
      else {
        if (fine) this.bands(pen, style, shown); else shown.forEach((one) => this.bar(pen, one));
        this.collisions().forEach((i) => this.cross(pen, style, i, fine));
      }
      this.cursor(pen, style, width);
      pen.restore();
    }
    // Which stations have their names at which place: of many at one place the first two, and how many more there are.
    labels(pen, room) {
      const all = [];
      for (const station of this.run.places) {
        const x = this.column[station] * room, last = all.at(-1);
        if (last && last.x === x) last.stations.push(station); else all.push({ x, stations: [station] });
      }
      for (const label of all) {
        const named = label.stations.length > 3 ? label.stations.slice(0, 2) : label.stations, more = label.stations.length - named.length;
        label.texts = named.map((station) => [this.run.names[station], this.colour(station)]);
        if (more) label.texts.push([`+${more}`, null]);
        label.length = label.texts.reduce((sum, [text]) => sum + pen.measureText(text).width + 6, -6);
      }
      return all;
    }
    // The collisions in view, by their events: without collision detection a sender learns of one after its signal.
    collisions() {
      const { t, kind, first, fields, n } = this.events, found = [];
      let low = 0, high = n;
      while (low < high) { const middle = (low + high) >> 1; if (t[middle] < this.from) low = middle + 1; else high = middle; }
      // A logical collision has no episode.
      for (let i = low; i < n && t[i] <= this.to; i++) if (kind[i] === this.scene.kinds.collision && fields[first[i] + 2]) found.push(i);
      return found;
    }
    // The view as a file of its own.
    svg() {
      const { clientWidth: width, clientHeight: height } = this.canvas, style = getComputedStyle(this.canvas);
      const pen = new SvgPen(width, height, this.canvas.getContext("2d"), this.fillings(style));
      this.picture(pen, style, width, height);
      return pen.text(style.getPropertyValue("--paper"), document.title, this.run.origin);
    }
    fillings(style) { return fillings(style.getPropertyValue("--paper"), style.getPropertyValue("--faint")); }
    // A filling that is no colour.
    filling(pen, style, name) {
      if (pen.filling) return pen.filling(name);
      const fill = this.fillings(style)[name], tile = document.createElement("canvas");
      tile.width = tile.height = fill.size;
      fill.draw(tile.getContext("2d"));
      return pen.createPattern(tile, "repeat");
    }
    shown() {
      const all = this.scene.all, found = [];
      for (let i = since(all, this.from - this.scene.longest - this.run.longest); i < all.length && all[i].begin <= this.to; i++) {
        if (all[i].end + this.run.longest >= this.from) found.push(all[i]);
      }
      return found;
    }
    ticks(pen, style, width) {
      const least = (this.to - this.from) * Math.max(1 / 9, 36 / (this.bottom - this.top)), steps = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
      const step = steps.find((step) => step >= least) || 10 ** Math.ceil(Math.log10(least));
      pen.fillStyle = style.getPropertyValue("--faint"); pen.strokeStyle = style.getPropertyValue("--line"); pen.lineWidth = 1;
      for (let t = Math.max(0, Math.ceil(this.from / step) * step); t <= this.to; t += step) {
        const y = this.y(t);
        pen.beginPath(); pen.moveTo(this.left - 6, y); pen.lineTo(width - 20, y); pen.stroke();
        pen.textAlign = "right"; pen.fillText(`${group(t)} BT`, this.left - 12, y + 4);
        if (this.bottom - y > 22) pen.fillText(real(this.run, t), this.left - 12, y + 18);
      }
      let taken = -Infinity;
      pen.strokeStyle = style.getPropertyValue("--faint");
      const faint = style.getPropertyValue("--faint");
      this.named.forEach((label) => {
        const x = this.left + label.x;
        pen.beginPath(); pen.moveTo(x, this.top - 6); pen.lineTo(x, this.bottom); pen.stroke();
        if (x - (this.turned ? 0 : label.length / 2) <= taken) return;
        let at = 0;
        for (const [text, colour] of label.texts) {
          pen.fillStyle = colour || faint;
          this.name(pen, text, x, at);
          at += pen.measureText(text).width + 6;
        }
        taken = x + (this.turned ? 12 : label.length / 2 + 6);
      });
      pen.textAlign = "right"; pen.fillStyle = style.getPropertyValue("--faint");
      pen.fillText("time", this.left - 46, this.top - 14);
    }
    // A station's name over its line: upright, or turned and `at` points after the first of its place.
    name(pen, text, x, at) {
      if (!this.turned) { pen.textAlign = "center"; pen.fillText(text, x, this.top - 14); return; }
      pen.textAlign = "left";
      if (pen.filling) { pen.fillText(text, x + 4, this.top - 12 - at, -90); return; }
      pen.save(); pen.translate(x + 4, this.top - 12 - at); pen.rotate(-Math.PI / 2); pen.fillText(text, 0, 0); pen.restore();
    }
    // Where a signal is drawn: stations in a row and how far each is from its sender, or a lane's two sides.
    stretches(one) {
      const { run } = this, all = [], cable = run.shape === "cable";
      const half = cable ? 10 : Math.min(40, (0.4 * (this.right - this.left)) / run.places.length);
      let stretch = [];
      const flush = () => {
        if (stretch.length === 1) { const [[x, d]] = stretch; stretch = [[x - half, d], [x + half, d]]; }
        if (stretch.length) all.push(stretch);
        stretch = [];
      };
      for (const station of run.places) {
        if (shows(run, one, station)) stretch.push([this.x(station), distance(run, one, station)]);
        if (!cable || !shows(run, one, station)) flush();
      }
      flush();
      return all;
    }
    outline(pen, stretch, from, to) {
      pen.beginPath();
      stretch.forEach(([x, d]) => pen.lineTo(x, this.y(from + d)));
      for (let i = stretch.length - 1; i >= 0; i--) pen.lineTo(stretch[i][0], this.y(to + stretch[i][1]));
      pen.closePath();
    }
    isFaint(one) { return this.followed && (one.about !== this.followed.of || one.serial !== this.followed.serial); }
    // Fills where a signal is alone, a hatch where several are, dots for jams; the first and last bits as lines.
    bands(pen, style, shown) {
      const all = shown.map((one) => ({ one, stretches: this.stretches(one) }));
      const fill = (jams) => all.forEach(({ one, stretches }) => parts(this.scene, one).forEach(([part, from, to]) => {
        if ((part === "jam") !== jams) return;
        pen.globalAlpha = DENSITY[part] * (this.isFaint(one) ? 0.35 : 1);
        pen.fillStyle = jams ? this.filling(pen, style, `dots${this.colour(one.of).slice(1)}`) : this.colour(one.of);
        stretches.forEach((stretch) => { this.outline(pen, stretch, from, to); pen.fill(); });
      }));
      fill(false);
      pen.globalAlpha = 1;
      this.overlaps(pen, style, all);
      fill(true);
      pen.globalAlpha = 1;
      const named = [];
      for (const { one, stretches } of all) {
        pen.strokeStyle = this.colour(one.of); pen.lineWidth = this.followed && !this.isFaint(one) ? 3 : 1.6;
        for (const at of one.open ? [one.begin] : [one.begin, one.end]) stretches.forEach((stretch) => {
          pen.beginPath(); stretch.forEach(([x, d]) => pen.lineTo(x, this.y(at + d))); pen.stroke();
        });
        const y = this.y(one.begin);
        if (this.y(one.end) - y > 26) {
          const x = this.x(one.of), far = x > (this.left + this.right) / 2;
          const text = name(this.run, one.about, one.serial), at = Math.max(y, this.top) + 14, width = pen.measureText(text).width;
          const from = far ? x - 8 - width : x + 8;
          // A name that has no room is left out: the reader finds it with the mouse.
          if (named.some((other) => Math.abs(other.at - at) < 12 && from < other.to && other.from < from + width)) continue;
          named.push({ at, from, to: from + width });
          pen.textAlign = "left"; pen.fillStyle = style.getPropertyValue("--ink");
          pen.fillText(text, from, at);
        }
      }
    }
    // Where signals meet, column by column: those of a cable are two points wide, and a lane is one.
    overlaps(pen, style, all) {
      const columns = new Map();
      const put = (x, width, from, to) => {
        const column = columns.get(x) || { width, spans: [] };
        column.spans.push([from, to]); columns.set(x, column);
      };
      for (const { one, stretches } of all) for (const stretch of stretches) for (let i = 1; i < stretch.length; i++) {
        const [[x0, d0], [x1, d1]] = [stretch[i - 1], stretch[i]];
        const step = this.run.shape === "cable" ? 2 : x1 - x0;
        for (let x = step === 2 ? Math.ceil(x0 / 2) * 2 : x0; x < x1; x += step) {
          const d = d0 + (d1 - d0) * Math.min(1, (x + step / 2 - x0) / (x1 - x0));
          put(x, step, this.y(one.begin + d), this.y((one.open ? this.run.end : one.end) + d));
        }
      }
      pen.fillStyle = this.filling(pen, style, "overlap");
      pen.beginPath();
      for (const [x, { width, spans }] of columns) {
        let last = -Infinity, from = 0, to = -Infinity;
        const flush = () => { if (to > from) pen.rect(x, from, width, to - from); };
        for (const [begin, end] of spans.sort((a, b) => a[0] - b[0])) {
          if (begin < last) {
            const until = Math.min(end, last);
            if (begin > to) { flush(); from = begin; to = until; } else to = Math.max(to, until);
          }
          last = Math.max(last, end);
        }
        flush();
      }
      pen.fill();
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
      }
      for (const i of this.collisions()) met[this.events.at[i] * count + Math.min(count - 1, Math.floor((this.events.t[i] - this.from) * scale))] = 1;
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
    cross(pen, style, i, fine) {
      const x = this.x(this.events.at[i]), y = this.y(this.events.t[i]), size = fine ? 5 : 2;
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
    // Selects an event and tells it.
    tell(i) {
      this.selected = i;
      this.told.textContent = this.words(i);
    }
    words(i) {
      const frame = name(this.run, this.events.of[i], this.events.serial[i]);
      return `t = ${group(this.events.t[i])} BT, ${frame}: ${sentence(this.run, this.events, this.scene, i)}`;
    }
    // Diagrams in step show the same time, and the first event from the same instant on.
    lead() {
      if (!document.querySelector("#step")?.checked) return;
      for (const peer of this.peers || []) {
        Object.assign(peer, { from: this.from, to: this.to });
        const at = peer.events.t.findIndex((t) => t >= this.events.t[this.selected]);
        if (at >= 0) peer.tell(at);
        peer.draw();
      }
    }
    // Selects an event, tells it, and brings it into view.
    select(i, near) {
      if (i < 0 || i >= this.events.n) return;
      this.tell(i);
      const t = this.events.t[i];
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
      this.lead();
    }
    zoom(factor, t = (this.from + this.to) / 2) {
      const most = this.run.end + this.run.longest - this.run.packed_from + 64;
      const span = Math.min(most, Math.max(8, (this.to - this.from) * factor)), part = (t - this.from) / (this.to - this.from);
      this.from = t - part * span; this.to = this.from + span; this.pan(0);
    }
    pan(bits) {
      const span = this.to - this.from;
      this.from = Math.min(Math.max(this.from + bits, this.run.packed_from - span / 2), this.run.end + span / 2);
      this.to = this.from + span; this.draw(); this.lead();
    }
    next(way, wanted) {
      let i = this.selected < 0 ? this.events.t.findIndex((t) => t >= this.from) - (way > 0 ? 1 : 0) : this.selected;
      const own = (i) => !this.followed || (this.events.of[i] === this.followed.of && this.events.serial[i] === this.followed.serial);
      do i += way; while (i >= 0 && i < this.events.n && !(own(i) && wanted(i)));
      this.choose(i, false);
    }
    // Follows the frame of an event, whose events alone the arrow keys then show; or none any more.
    follow(i) {
      const frame = i < 0 ? null : { of: this.events.of[i], serial: this.events.serial[i] };
      const same = frame && this.followed && frame.of === this.followed.of && frame.serial === this.followed.serial;
      this.followed = same ? null : frame;
      if (i >= 0) this.choose(i, false); else this.draw();
    }
    // Goes to a frame's first event, like st2#17, or to an instant in bit times; whether there is one.
    find(text) {
      const { n, of, serial, t } = this.events, wanted = text.trim().split("#"), at = Number(text.replace(/[, ]/g, ""));
      let i = -1;
      if (wanted.length === 2) {
        const station = this.run.names.indexOf(wanted[0]), number = Number(wanted[1]);
        for (let event = 0; event < n && i < 0; event++) if (of[event] === station && serial[event] === number) i = event;
      } else if (text.trim() && at >= 0) i = t.findIndex((own) => own >= at);
      if (i < 0) { this.told.textContent = `Neither a frame of this page, like ${this.run.names[0]}#1, nor an instant in bit times: ${text}`; return false; }
      this.followed = wanted.length === 2 ? { of: of[i], serial: serial[i] } : this.followed;
      this.choose(i, true);
      return true;
    }
    // As `select`, by the reader's hand: the address then leads to this instant.
    choose(i, near) {
      this.select(i, near);
      if (i >= 0 && i < this.events.n) history.replaceState(null, "", `#t=${this.events.t[i]}`);
    }
    // The latest event of the signal that is drawn at a point.
    eventAt(x, y) {
      const t = this.time(y), near = (station) => Math.abs(this.x(station) - x);
      const station = this.run.places.reduce((best, one) => (near(one) < near(best) ? one : best), this.run.places[0]);
      const one = sounding(this.run, this.scene, station, t).find((one) => shows(this.run, one, station));
      return one && one.serial ? one.event : -1;
    }
    key(key) {
      const step = (this.to - this.from) / 8, { kind } = this.events;
      const collides = (i) => kind[i] === this.scene.kinds.collision;
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
        case "f": this.follow(this.followed ? -1 : this.selected); break;
        case "/": this.section.querySelector("input").focus(); break;
        case "svg": this.save(); break;
        default: return false;
      }
      return true;
    }
    // On paper the view is lines and text, as large as the paper wants it.
    print(begins) {
      this.section.querySelector(".paper").innerHTML = begins ? this.svg() : "";
      this.canvas.hidden = begins;
    }
    // Hands the view to the reader as a file.
    save() {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([this.svg()], { type: "image/svg+xml" }));
      link.download = `ethbus-${Math.round(this.from)}.svg`;
      link.click();
      URL.revokeObjectURL(link.href);
    }
    // The selected event if it is in view, else the middle.
    middle() { const t = this.events.t[this.selected]; return t >= this.from && t <= this.to ? t : (this.from + this.to) / 2; }
    hover(x, y) {
      const t = this.time(y), run = this.run;
      const near = this.collisions().find((i) => Math.hypot(this.x(this.events.at[i]) - x, this.y(this.events.t[i]) - y) < 10);
      if (near !== undefined) return this.words(near);
      if (x < this.left - 20 || x > this.right + 20 || y < this.top || y > this.bottom) return "";
      const gap = (station) => Math.abs(this.x(station) - x);
      const station = run.places.reduce((best, station) => (gap(station) < gap(best) ? station : best), run.places[0]);
      const told = sounding(run, this.scene, station, t).map((one) => {
        const d = distance(run, one, station), part = parts(this.scene, one).find(([, from, to]) => from + d <= t && t < to + d);
        const attempt = one.attempt ? `, attempt ${one.attempt}` : "";
        const whose = one.serial ? name(run, one.about, one.serial) : run.names[one.of];
        return part ? `${PARTS[part[0]]} of ${whose}${attempt}, here from ${group(part[1] + d)} to ${group(part[2] + d)} BT` : "";
      }).filter(Boolean);
      const heard = told.length ? told.join("; and ") : "silence";
      return `t = ${group(Math.round(t))} BT at ${run.names[station]}: ${heard}`;
    }
    listen() {
      const canvas = this.canvas;
      let held = null, moved = 0;
      const at = (event) => [event.offsetX / this.larger, event.offsetY / this.larger];
      canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.time(at(event)[1])); }, { passive: false });
      canvas.addEventListener("pointerdown", (event) => { held = at(event)[1]; moved = 0; canvas.setPointerCapture(event.pointerId); });
      canvas.addEventListener("pointerup", (event) => {
        if (held !== null && moved < 4) { const i = this.eventAt(...at(event)); if (i >= 0 || this.followed) this.follow(i); }
        held = null;
      });
      canvas.addEventListener("pointermove", (event) => {
        const [x, y] = at(event);
        if (held !== null) { moved += Math.abs(y - held); this.pan(this.time(held) - this.time(y)); held = y; }
        const told = this.hover(x, y);
        this.tip.textContent = told; this.tip.hidden = !told;
        this.tip.style.left = `${Math.min(event.offsetX + 14, canvas.clientWidth - 330)}px`; this.tip.style.top = `${event.offsetY + 14}px`;
      });
      canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
      canvas.addEventListener("keydown", (event) => { if (!event.ctrlKey && !event.metaKey && this.key(event.key)) event.preventDefault(); });
      this.section.querySelectorAll("button[data-key]").forEach((button) => button.addEventListener("click", () => { this.key(button.dataset.key); canvas.focus(); }));
      this.section.querySelector("form").addEventListener("submit", (event) => {
        event.preventDefault();
        if (this.find(event.target.elements.wanted.value)) canvas.focus();
      });
      addEventListener("resize", () => this.draw());
      this.dark.addEventListener("change", () => this.draw());
      addEventListener("hashchange", () => this.open());
    }
  }

  function start() {
    const begin = performance.now();
    document.querySelectorAll("section.diagram").forEach((section) => {
      const run = JSON.parse(section.querySelector("script.run").textContent);
      const events = unpack(run, octets(section.querySelector("script.events").textContent));
      const scene = collide(signals(run, octets(section.querySelector("script.signals").textContent)), events);
      section.diagram = new Diagram(section, run, events, scene);
    });
    const all = [...document.querySelectorAll("section.diagram")].map((section) => section.diagram);
    all.forEach((diagram) => { diagram.peers = all.filter((other) => other !== diagram); });
    if (all.length) all[0].lead();
    const folded = [...document.querySelectorAll("details")].filter((one) => !one.open);
    const print = (begins) => {
      folded.forEach((one) => { one.open = begins; });
      all.forEach((diagram) => diagram.print(begins));
    };
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
    document.body.dataset.opened = Math.round(performance.now() - begin);
  }

  start();
})();
