"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const canvas = document.getElementById("drawing");
  const pen = canvas.getContext("2d");
  const nodes = data.nodes.map((node, at) => ({
    ...node, at, colour: data.layers.indexOf(node.layer) % 8, near: [], x: 0, y: 0,
  }));
  const edges = data.edges.map(([from, to, type, strength, inBody]) => ({
    from: nodes[from], to: nodes[to], type, strength, inBody,
  }));
  for (const edge of edges) {
    edge.from.near.push([edge, edge.to]);
    edge.to.near.push([edge, edge.from]);
  }
  for (const node of nodes) node.size = 4 + Math.min(9, 1.7 * Math.sqrt(node.near.length));

  // Layout: each connected part by itself, by forces from fixed places; then the parts in rows.
  // Nothing is random: the same memories stand at the same places each time.
  const IDEAL = 46;

  function parts() {
    const seen = new Set();
    const found = [];
    for (const start of nodes) {
      if (seen.has(start)) continue;
      const part = [start];
      seen.add(start);
      for (let at = 0; at < part.length; at++)
        for (const [, other] of part[at].near)
          if (!seen.has(other)) { seen.add(other); part.push(other); }
      found.push(part);
    }
    return found.sort((a, b) => b.length - a.length || a[0].at - b[0].at);
  }

  function layOut(part) {
    const inside = new Set(part);
    const own = edges.filter((edge) => inside.has(edge.from) && edge.from !== edge.to);
    part.forEach((node, at) => {
      const far = IDEAL * 0.7 * Math.sqrt(at);
      node.x = far * Math.cos(at * 2.399963);
      node.y = far * Math.sin(at * 2.399963);
    });
    if (part.length < 3) {
      part.forEach((node, at) => { node.x = at * IDEAL; node.y = 0; });
      return;
    }
    const rounds = part.length > 1500 ? 220 : 300;
    const reach = IDEAL * 4, inward = 0.012 * Math.min(1, 10 / Math.sqrt(part.length));
    for (let round = 0; round < rounds; round++) {
      const heat = IDEAL * 0.6 * (1 - round / rounds) + 0.3;
      const cells = new Map();
      for (const node of part) {
        node.dx = -node.x * inward;
        node.dy = -node.y * inward;
        const key = Math.floor(node.x / reach) * 65536 + Math.floor(node.y / reach);
        const cell = cells.get(key);
        if (cell) cell.push(node); else cells.set(key, [node]);
      }
      for (const node of part) {
        const column = Math.floor(node.x / reach), row = Math.floor(node.y / reach);
        for (let a = -1; a <= 1; a++) for (let b = -1; b <= 1; b++) {
          const cell = cells.get((column + a) * 65536 + row + b);
          if (!cell) continue;
          for (const other of cell) {
            if (other === node) continue;
            let x = node.x - other.x, y = node.y - other.y;
            let square = x * x + y * y;
            if (square > reach * reach) continue;
            if (square < 0.01) { x = (node.at - other.at) * 0.1; y = 0.1; square = x * x + y * y; }
            const push = IDEAL * IDEAL / square;
            node.dx += x * push * 0.5;
            node.dy += y * push * 0.5;
          }
        }
      }
      for (const { from, to, strength } of own) {
        const x = to.x - from.x, y = to.y - from.y;
        const long = Math.sqrt(x * x + y * y) || 1;
        const pull = (long - IDEAL) / long * (0.15 + 0.35 * strength)
          / Math.sqrt(Math.min(from.near.length, to.near.length));
        from.dx += x * pull; from.dy += y * pull;
        to.dx -= x * pull; to.dy -= y * pull;
      }
      for (const node of part) {
        const long = Math.sqrt(node.dx * node.dx + node.dy * node.dy) || 1;
        const step = Math.min(long, heat) / long;
        node.x += node.dx * step;
        node.y += node.dy * step;
      }
    }
  }

  function box(part) {
    const xs = part.map((node) => node.x), ys = part.map((node) => node.y);
    const edge = IDEAL * 0.75;
    const left = Math.min(...xs) - edge, top = Math.min(...ys) - edge;
    return { part, left, top, wide: Math.max(...xs) + edge - left, high: Math.max(...ys) + edge - top };
  }

  function arrange() {
    const boxes = parts().map((part) => { layOut(part); return box(part); });
    const area = boxes.reduce((sum, b) => sum + b.wide * b.high, 0);
    const width = Math.max(boxes.length ? boxes[0].wide : 0, Math.sqrt(area * 1.7));
    const first = boxes.shift();
    if (!first) return;
    put(first, 0, 0);
    // Small parts fill the room beside the largest, then rows below it.
    const beside = rows(boxes, first.wide, 0, width, first.high);
    rows(beside, 0, first.high, width, Infinity);
  }

  function put(b, x, y) {
    for (const node of b.part) { node.x += x - b.left; node.y += y - b.top; }
  }

  // Fill rows from left to right between two edges; what does not fit above the floor is left over.
  function rows(boxes, left, top, right, floor) {
    let x = left, y = top, row = 0;
    const rest = [];
    for (const b of boxes) {
      if (x > left && x + b.wide > right) { x = left; y += row; row = 0; }
      if (x + b.wide > right && floor !== Infinity || y + b.high > floor) { rest.push(b); continue; }
      put(b, x, y);
      x += b.wide;
      row = Math.max(row, b.high);
    }
    return rest;
  }

  const view = { x: 0, y: 0, scale: 1 };
  const off = { layers: new Set(), types: new Set() };
  let hover = null, chosen = null, matches = null;

  // Of many memories the page begins with one and what is near it: a cloud of thousands tells nothing.
  const NEAR = 30;
  let only = null;

  const shown = (node) => !off.layers.has(node.layer) && (!only || only.has(node));
  const drawn = (edge) => !off.types.has(edge.type) && shown(edge.from) && shown(edge.to);

  function fit() {
    const here = nodes.filter(shown);
    if (!here.length) return;
    const { left, top, wide, high } = box(here);
    view.scale = Math.min(canvas.clientWidth / wide, canvas.clientHeight / high, 2.2);
    view.x = canvas.clientWidth / 2 - (left + wide / 2) * view.scale;
    view.y = canvas.clientHeight / 2 - (top + high / 2) * view.scale;
  }

  function everything() {
    only = null;
    for (const node of nodes) [node.x, node.y] = node.home;
    fit();
  }

  function nearTo(node) {
    const found = [node];
    only = new Set(found);
    for (let at = 0; at < found.length; at++) {
      const links = [...found[at].near].sort((a, b) => b[0].strength - a[0].strength);
      for (const [, other] of links)
        if (!only.has(other) && found.length < NEAR) { only.add(other); found.push(other); }
    }
    layOut(found);
    fit();
  }

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const DASHES = { references: [6, 4], related: [2, 3] };

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = { edge: style("--edge"), supports: style("--supports"), contradicts: style("--contradicts") };
    const layers = Array.from({ length: 8 }, (_, at) => style(`--c${at}`));
    const ink = style("--ink"), halo = style("--card");
    const focus = hover || (only ? null : chosen);
    const lit = focus ? new Set([focus, ...focus.near.filter(([e]) => drawn(e)).map(([, o]) => o)]) : matches;
    const x = (node) => node.x * view.scale + view.x, y = (node) => node.y * view.scale + view.y;
    const grow = Math.max(0.35, Math.min(1.4, Math.sqrt(view.scale)));
    const radius = (node) => Math.max(1.6, node.size * grow);

    for (const edge of edges) {
      if (!drawn(edge)) continue;
      const near = !lit || (focus ? edge.from === focus || edge.to === focus : lit.has(edge.from) && lit.has(edge.to));
      pen.globalAlpha = near ? (focus ? 0.95 : 0.3 + 0.4 * edge.strength) : 0.08;
      pen.strokeStyle = colours[edge.type] || colours.edge;
      pen.lineWidth = (0.6 + 1.4 * edge.strength) * Math.max(0.5, Math.min(1.2, view.scale)) + (focus && near ? 0.6 : 0);
      pen.setLineDash(view.scale > 0.6 ? DASHES[edge.type] || [] : []);
      pen.beginPath();
      pen.moveTo(x(edge.from), y(edge.from));
      pen.lineTo(x(edge.to), y(edge.to));
      pen.stroke();
      if (view.scale > 0.5 || (focus && near)) arrow(edge, x, y, radius);
    }
    pen.setLineDash([]);
    for (const node of nodes) {
      if (!shown(node)) continue;
      pen.globalAlpha = !lit || lit.has(node) ? 1 : 0.18;
      pen.fillStyle = layers[node.colour];
      pen.beginPath();
      pen.arc(x(node), y(node), radius(node), 0, 7);
      pen.fill();
      pen.lineWidth = node === chosen ? 3 : 1;
      pen.strokeStyle = node === chosen ? ink : halo;
      pen.stroke();
    }
    labels(lit, focus, x, y, radius, ink, halo);
    pen.globalAlpha = 1;
  }

  function arrow(edge, x, y, radius) {
    if (edge.type === "related") return;
    const ax = x(edge.from), ay = y(edge.from), bx = x(edge.to), by = y(edge.to);
    const turn = Math.atan2(by - ay, bx - ax), back = radius(edge.to) + 1;
    const tx = bx - back * Math.cos(turn), ty = by - back * Math.sin(turn);
    pen.fillStyle = pen.strokeStyle;
    pen.beginPath();
    pen.moveTo(tx, ty);
    pen.lineTo(tx - 7 * Math.cos(turn - 0.4), ty - 7 * Math.sin(turn - 0.4));
    pen.lineTo(tx - 7 * Math.cos(turn + 0.4), ty - 7 * Math.sin(turn + 0.4));
    pen.fill();
  }

  // Names go to the most linked first, and to none that would stand on another.
  function labels(lit, focus, x, y, radius, ink, halo) {
    const taken = [];
    const order = nodes.filter((node) => shown(node) && (!lit || lit.has(node)))
      .sort((a, b) => (b === focus) - (a === focus) || (b === chosen) - (a === chosen)
        || b.near.length - a.near.length || a.at - b.at);
    const most = lit ? 60 : nodes.length <= 60 ? 60 : Math.round(24 + 60 * Math.min(2, view.scale));
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    for (const node of order) {
      if (taken.length >= most) break;
      const long = lit || nodes.length <= 60 || view.scale > 1 ? 40 : 26;
      const text = node.label.length > long ? `${node.label.slice(0, long - 1)}…` : node.label;
      const wide = pen.measureText(text).width;
      const gap = radius(node) + 4, cx = x(node), cy = y(node);
      if (cx < 0 || cx > canvas.clientWidth || cy < 0 || cy > canvas.clientHeight) continue;
      const places = [[cx + gap, cy], [cx - gap - wide, cy], [cx - wide / 2, cy + gap + 6], [cx - wide / 2, cy - gap - 6]];
      const place = places.find(([left, middle]) => left > 0 && left + wide < canvas.clientWidth
        && !taken.some((t) => left < t[0] + t[2] && t[0] < left + wide && Math.abs(middle - t[1]) < 16))
        || (node === focus && places[0]);
      if (!place) continue;
      const [left, middle] = place;
      taken.push([left, middle, wide]);
      pen.globalAlpha = 1;
      pen.lineWidth = 3.5;
      pen.strokeStyle = halo;
      pen.strokeText(text, left, middle);
      pen.fillStyle = ink;
      pen.fillText(text, left, middle);
    }
  }

  function make(tag, text, kind) {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function tell(node) {
    const place = document.getElementById("chosen");
    place.replaceChildren();
    if (!node) {
      place.append(make("p", "Point at a memory, or click it. Drag to move, turn the wheel to zoom.", "hint"));
      return;
    }
    const head = make("h2", node.label);
    head.dir = "auto";
    const text = make("blockquote", node.text);
    text.dir = "auto";
    const what = make("small", `${node.type} in ${node.layer} `);
    what.append(make("code", node.id));
    const list = make("ul");
    for (const [edge, other] of node.near.filter(([e]) => drawn(e)).sort((a, b) => b[0].strength - a[0].strength)) {
      const row = make("li"), button = make("button");
      const out = edge.from === node;
      button.type = "button";
      const said = `${edge.type}${out ? "" : " this"}, ${edge.strength.toFixed(2)}${edge.inBody ? ", in the text" : ""}`;
      button.append(make("small", said), document.createElement("br"), make("bdi", other.label));
      button.addEventListener("click", () => choose(other, true));
      row.append(button);
      list.append(row);
    }
    place.append(head, what, text, list);
  }

  function choose(node, go) {
    chosen = node;
    hover = null;
    if (node && only) nearTo(node);
    else if (node && go) {
      view.scale = Math.max(view.scale, 1);
      view.x = canvas.clientWidth / 2 - node.x * view.scale;
      view.y = canvas.clientHeight / 2 - node.y * view.scale;
    }
    tell(node);
    draw();
  }

  function under(event) {
    const room = canvas.getBoundingClientRect();
    const px = (event.clientX - room.left - view.x) / view.scale, py = (event.clientY - room.top - view.y) / view.scale;
    let best = null, least = Infinity;
    for (const node of nodes) {
      if (!shown(node)) continue;
      const far = Math.hypot(node.x - px, node.y - py);
      if (far < least && far < Math.max(node.size * 1.4, 9 / view.scale)) { best = node; least = far; }
    }
    return best;
  }

  function zoom(by, cx = canvas.clientWidth / 2, cy = canvas.clientHeight / 2) {
    const scale = Math.max(0.03, Math.min(8, view.scale * by));
    view.x = cx - (cx - view.x) * scale / view.scale;
    view.y = cy - (cy - view.y) * scale / view.scale;
    view.scale = scale;
    draw();
  }

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, moved: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held) {
      view.x += event.clientX - held.x;
      view.y += event.clientY - held.y;
      held.moved += Math.abs(event.clientX - held.x) + Math.abs(event.clientY - held.y);
      held.x = event.clientX;
      held.y = event.clientY;
      canvas.classList.add("moving");
      draw();
      return;
    }
    const now = under(event);
    canvas.classList.toggle("over", Boolean(now));
    if (now !== hover) { hover = now; if (now || !chosen) tell(now || chosen); draw(); }
  });
  canvas.addEventListener("pointerup", (event) => {
    canvas.classList.remove("moving");
    if (held && held.moved < 5) choose(under(event), false);
    held = null;
  });
  canvas.addEventListener("pointercancel", () => { held = null; canvas.classList.remove("moving"); });
  canvas.addEventListener("pointerleave", () => { if (hover) { hover = null; tell(chosen); draw(); } });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const room = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - room.left, event.clientY - room.top);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (moves[event.key]) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; draw(); }
    else if (event.key === "+" || event.key === "=") zoom(1.3);
    else if (event.key === "-") zoom(1 / 1.3);
    else if (event.key === "0") { everything(); draw(); }
    else if (event.key === "Escape") choose(null, false);
    else return;
    event.preventDefault();
  });
  document.getElementById("closer").addEventListener("click", () => zoom(1.3));
  document.getElementById("away").addEventListener("click", () => zoom(1 / 1.3));
  document.getElementById("whole").addEventListener("click", () => { everything(); draw(); });
  document.getElementById("near").addEventListener("click", () => begin(chosen));
  document.getElementById("find").addEventListener("input", (event) => {
    const word = event.target.value.trim().toLowerCase();
    matches = word ? new Set(nodes.filter((n) => `${n.label}\n${n.text}\n${n.id}`.toLowerCase().includes(word))) : null;
    chosen = null;
    tell(null);
    draw();
  });
  document.getElementById("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && matches && matches.size) choose([...matches][0], true);
  });

  function legend(place, names, count, mark, gone) {
    const field = document.getElementById(place);
    for (const name of names) {
      const line = make("label"), box = make("input");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => {
        if (box.checked) gone.delete(name); else gone.add(name);
        tell(chosen);
        draw();
      });
      line.append(box, mark(name), make("span", name), make("b", String(count(name))));
      field.append(line);
    }
  }
  legend("layers", data.layers, (name) => nodes.filter((n) => n.layer === name).length,
    (name) => make("span", "", `dot c${data.layers.indexOf(name) % 8}`), off.layers);
  legend("types", data.types, (name) => edges.filter((e) => e.type === name).length,
    (name) => make("span", "", `bar ${name}`), off.types);

  function begin(node) {
    const most = nodes.reduce((a, b) => (b.near.length > a.near.length ? b : a), nodes[0]);
    only = new Set();
    choose(node || most, false);
  }

  arrange();
  for (const node of nodes) node.home = [node.x, node.y];
  if (nodes.length > NEAR) begin(null);
  else { fit(); draw(); }
  window.addEventListener("resize", () => { fit(); draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
