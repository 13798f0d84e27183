// Draws a graph and is moved about in. A picture is drawn into a buffer a few milliseconds at a time and then shown at once; while one
// pans or zooms, the last picture is moved instead, so that no frame waits for thousands of edges.

const SLICE = 6;
const RUN = 400;
const MOST_LABELS = 160;
const AT_REST = 90;

export class Picture {
  constructor(canvas, { onpick, onhover, colours }) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.onpick = onpick;
    this.onhover = onhover;
    this.colours = colours;
    this.nodes = [];
    this.byRank = [];
    this.edges = [];
    this.x = new Float32Array(0);
    this.y = new Float32Array(0);
    this.view = { scale: 1, dx: 0, dy: 0 };
    this.selected = -1;
    this.strong = null;
    this.path = null;
    this.buffers = [document.createElement('canvas'), document.createElement('canvas')];
    this.shownView = null;
    this.drawing = null;
    this.frame = 0;
    this.isFitted = true;
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas.parentElement);
    this.resize();
  }

  end() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rest);
    this.isEnded = true;
  }

  /** Nodes `{ label, colour, size, isOutline }`, edges `{ from, to, colour, isFaint }` by number. */
  set(nodes, edges, x, y) {
    this.nodes = nodes;
    this.edges = edges.slice().sort((one, other) => one.colour - other.colour || one.isFaint - other.isFaint);
    this.x = x;
    this.y = y;
    this.byRank = nodes.map((_, at) => at).sort((one, other) => nodes[other].size - nodes[one].size || one - other);
    this.redraw();
  }

  move(x, y) {
    this.x = x;
    this.y = y;
    if (this.isFitted) this.fit(false);
    this.redraw();
  }

  select(at, neighbours, path) {
    this.selected = at;
    this.strong = neighbours;
    this.path = path;
    this.redraw();
  }

  fit(isDrawn = true) {
    this.isFitted = true;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let at = 0; at < this.nodes.length; at += 1) {
      left = Math.min(left, this.x[at]); right = Math.max(right, this.x[at]);
      top = Math.min(top, this.y[at]); bottom = Math.max(bottom, this.y[at]);
    }
    if (!Number.isFinite(left)) return;
    const scale = Math.min(2.2, (this.width - 90) / Math.max(right - left, 40), (this.height - 70) / Math.max(bottom - top, 40));
    this.view = { scale, dx: this.width / 2 - ((left + right) / 2) * scale, dy: this.height / 2 - ((top + bottom) / 2) * scale };
    if (isDrawn) this.redraw();
  }

  zoom(by, px = this.width / 2, py = this.height / 2) {
    const scale = Math.min(6, Math.max(0.01, this.view.scale * by));
    const ratio = scale / this.view.scale;
    this.view = { scale, dx: px - (px - this.view.dx) * ratio, dy: py - (py - this.view.dy) * ratio };
    this.moved();
  }

  pan(dx, dy) {
    this.view = { ...this.view, dx: this.view.dx + dx, dy: this.view.dy + dy };
    this.moved();
  }

  /** The view changed by hand: show the last picture there, and draw a new one when the hand rests. */
  moved() {
    this.isFitted = false;
    this.drawing = null;
    this.isMoving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => { this.isMoving = false; this.redraw(); }, AT_REST);
    this.schedule();
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.width = Math.max(box.width, 10);
    this.height = Math.max(box.height, 10);
    this.ratio = ratio;
    for (const canvas of [this.canvas, ...this.buffers]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
    }
    this.shownView = null;
    if (this.isFitted) this.fit(false);
    this.redraw();
  }

  redraw() {
    if (!this.isMoving) this.wanted = true;
    this.schedule();
  }

  schedule() {
    if (!this.frame && !this.isEnded) this.frame = requestAnimationFrame(() => { this.frame = 0; this.tick(); });
  }

  tick() {
    if (!this.isMoving) {
      if (this.wanted && !this.drawing) {
        this.wanted = false;
        this.drawing = this.begin();
      }
      if (this.drawing) {
        const until = performance.now() + SLICE;
        let isDone = false;
        while (!isDone && performance.now() < until) isDone = this.drawing.next().done;
        if (isDone) this.drawing = null;
        if (!isDone || this.wanted) this.schedule();
        if (!isDone) return;
      }
    }
    this.show();
  }

  show() {
    const { context, ratio } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!this.shownView) return;
    const by = this.view.scale / this.shownView.scale;
    context.setTransform(by, 0, 0, by, (this.view.dx - this.shownView.dx * by) * ratio, (this.view.dy - this.shownView.dy * by) * ratio);
    context.drawImage(this.buffers[0], 0, 0);
  }

  /** Draws the picture, a few hundred edges at a time. */
  * begin() {
    const { colours, nodes, edges, x, y, ratio } = this;
    const { scale, dx, dy } = this.view;
    const view = { ...this.view };
    const buffer = this.buffers[1];
    const context = buffer.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, buffer.width, buffer.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const px = (at) => x[at] * scale + dx;
    const py = (at) => y[at] * scale + dy;
    const isOut = (edge) => {
      const [ax, ay, bx, by] = [px(edge.from), py(edge.from), px(edge.to), py(edge.to)];
      return (ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > this.width && bx > this.width) || (ay > this.height && by > this.height);
    };
    const isChosen = (edge) => edge.from === this.selected || edge.to === this.selected;
    const many = edges.length > 4000;
    context.lineWidth = many ? 0.5 : 0.9;
    let at = 0;
    while (at < edges.length) {
      const first = edges[at];
      context.strokeStyle = colours.edges[first.colour];
      context.globalAlpha = (this.selected >= 0 || this.path ? 0.14 : many ? 0.12 : 0.55) * (first.isFaint ? 0.55 : 1);
      context.beginPath();
      const end = Math.min(at + RUN, edges.length);
      while (at < end && edges[at].colour === first.colour && edges[at].isFaint === first.isFaint) {
        const edge = edges[at];
        if (!isOut(edge)) { context.moveTo(px(edge.from), py(edge.from)); context.lineTo(px(edge.to), py(edge.to)); }
        at += 1;
      }
      context.stroke();
      yield;
    }
    if (this.selected >= 0 || this.path) {
      context.globalAlpha = 0.95;
      context.lineWidth = 1.3;
      for (const edge of edges) {
        const onPath = this.path?.has(`${edge.from} ${edge.to}`);
        if (this.path ? !onPath : !isChosen(edge)) continue;
        context.strokeStyle = context.fillStyle = colours.edges[edge.colour];
        context.setLineDash(edge.isFaint ? [4, 3] : []);
        context.beginPath();
        context.moveTo(px(edge.from), py(edge.from));
        context.lineTo(px(edge.to), py(edge.to));
        context.stroke();
        this.arrow(context, px(edge.from), py(edge.from), px(edge.to), py(edge.to), this.radius(edge.to));
      }
      context.setLineDash([]);
      yield;
    }
    for (let node = 0; node < nodes.length; node += 1) {
      const [cx, cy] = [px(node), py(node)];
      if (cx < -20 || cy < -20 || cx > this.width + 20 || cy > this.height + 20) continue;
      const isStrong = !this.strong || this.strong.has(node);
      context.globalAlpha = isStrong ? 1 : 0.3;
      context.fillStyle = colours.nodes[nodes[node].colour];
      context.beginPath();
      if (nodes[node].isBox) context.rect(cx - this.radius(node), cy - this.radius(node), 2 * this.radius(node), 2 * this.radius(node));
      else context.arc(cx, cy, this.radius(node), 0, 2 * Math.PI);
      context.fill();
      if (node === this.selected || nodes[node].isRoot) {
        context.lineWidth = node === this.selected ? 2.5 : 1.5;
        context.strokeStyle = colours.text;
        context.stroke();
      }
      if (node % 800 === 799) yield;
    }
    yield;
    // Labels of the most connected first, where they have room.
    const taken = new Set();
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    let written = 0;
    for (const node of this.byRank) {
      if (written >= MOST_LABELS) break;
      if (this.strong && !this.strong.has(node)) continue;
      const [cx, cy] = [px(node), py(node)];
      if (cx < 0 || cy < 0 || cx > this.width || cy > this.height) continue;
      const label = nodes[node].label.length > 34 ? `${nodes[node].label.slice(0, 33)}…` : nodes[node].label;
      const left = cx + this.radius(node) + 3;
      const cells = [];
      for (let along = Math.floor(left / 24); along <= Math.floor((left + label.length * 6) / 24); along += 1) cells.push(`${along} ${Math.round(cy / 13)}`);
      if (node !== this.selected && cells.some((cell) => taken.has(cell))) continue;
      cells.forEach((cell) => taken.add(cell));
      context.globalAlpha = 0.85;
      context.lineWidth = 3;
      context.strokeStyle = colours.ground;
      context.strokeText(label, left, cy);
      context.globalAlpha = 1;
      context.fillStyle = colours.text;
      context.fillText(label, left, cy);
      written += 1;
      if (written % 40 === 39) yield;
    }
    this.buffers.reverse();
    this.shownView = view;
  }

  arrow(context, ax, ay, bx, by, radius) {
    const angle = Math.atan2(by - ay, bx - ax);
    const [tx, ty] = [bx - (radius + 1) * Math.cos(angle), by - (radius + 1) * Math.sin(angle)];
    context.beginPath();
    context.moveTo(tx, ty);
    context.lineTo(tx - 7 * Math.cos(angle - 0.4), ty - 7 * Math.sin(angle - 0.4));
    context.lineTo(tx - 7 * Math.cos(angle + 0.4), ty - 7 * Math.sin(angle + 0.4));
    context.fill();
  }

  radius(node) {
    return Math.max(1.2, Math.min(this.nodes[node].size * Math.sqrt(this.view.scale), this.nodes[node].size * 1.4));
  }

  at(px, py) {
    let best = -1;
    let least = 144;
    for (let node = 0; node < this.nodes.length; node += 1) {
      const far = (this.x[node] * this.view.scale + this.view.dx - px) ** 2 + (this.y[node] * this.view.scale + this.view.dy - py) ** 2 - this.radius(node) ** 2;
      if (far < least) { least = far; best = node; }
    }
    return best;
  }

  listen() {
    const { canvas } = this;
    const place = (event) => [event.offsetX, event.offsetY];
    let held = null;
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      held = { from: place(event), last: place(event) };
    });
    canvas.addEventListener('pointermove', (event) => {
      const [px, py] = place(event);
      if (!held) { this.onhover?.(this.at(px, py), px, py); return; }
      this.pan(px - held.last[0], py - held.last[1]);
      held.last = [px, py];
    });
    const release = (event) => {
      if (!held) return;
      const [px, py] = place(event);
      const isClick = Math.hypot(px - held.from[0], py - held.from[1]) < 4;
      held = null;
      if (isClick) this.onpick(this.at(px, py));
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', () => { held = null; });
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.0012)), ...place(event));
    }, { passive: false });
    canvas.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      if (step) this.pan(...step);
      else if (event.key === '+' || event.key === '=') this.zoom(1.3);
      else if (event.key === '-') this.zoom(1 / 1.3);
      else if (event.key === '0') this.fit();
      else return;
      event.preventDefault();
    });
  }
}
