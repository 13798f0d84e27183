// Lays a graph out in a worker: springs along edges, repulsion between all nodes through a quadtree (Barnes and Hut), and a
// temperature that falls. Nodes that had a place keep near it, so that what one has looked at does not jump.

const THETA = 0.9;
const SPRING = 60;
const SHOW_EVERY = 120;

let run = 0;

onmessage = ({ data }) => {
  run += 1;
  if (data.stop) return;
  const layout = begin(data);
  const own = run;
  let told = performance.now();
  const work = () => {
    if (own !== run) return;
    const until = performance.now() + 40;
    while (layout.left > 0 && performance.now() < until) step(layout);
    const isDone = layout.left <= 0;
    if (isDone || performance.now() - told > SHOW_EVERY) {
      told = performance.now();
      postMessage({ key: data.key, x: layout.x.slice(), y: layout.y.slice(), done: isDone, milliseconds: told - layout.began });
    }
    if (!isDone) setTimeout(work, 0);
  };
  work();
};

function begin({ x, y, from, to, steps }) {
  const count = x.length;
  const degree = new Uint32Array(count);
  for (let edge = 0; edge < from.length; edge += 1) { degree[from[edge]] += 1; degree[to[edge]] += 1; }
  // New nodes begin beside a neighbour that has a place, on a spiral otherwise.
  const spread = SPRING * Math.sqrt(count) * 0.6;
  let isNew = 0;
  const beside = new Int32Array(count).fill(-1);
  for (let edge = 0; edge < from.length; edge += 1) {
    if (Number.isNaN(x[from[edge]])) { if (!Number.isNaN(x[to[edge]])) beside[from[edge]] = to[edge]; } else if (Number.isNaN(x[to[edge]])) beside[to[edge]] = from[edge];
  }
  for (let node = 0; node < count; node += 1) {
    if (!Number.isNaN(x[node])) continue;
    isNew += 1;
    const angle = node * 2.399963;
    const far = beside[node] >= 0 ? SPRING * (0.6 + (node % 7) / 7) : spread * Math.sqrt((node + 1) / count);
    x[node] = (beside[node] >= 0 ? x[beside[node]] : 0) + far * Math.cos(angle);
    y[node] = (beside[node] >= 0 ? y[beside[node]] : 0) + far * Math.sin(angle);
  }
  const total = steps ?? (count > 3000 ? 90 : count > 800 ? 150 : 260);
  const heat = SPRING * (isNew > count / 2 ? 2.5 : 0.8);
  return { x, y, from, to, degree, left: total, total, heat, began: performance.now(), fx: new Float32Array(count), fy: new Float32Array(count), tree: newTree(count) };
}

function newTree(count) {
  const room = count * 4 + 64;
  return { room, child: new Int32Array(room * 4), mass: new Float32Array(room), cx: new Float32Array(room), cy: new Float32Array(room), stack: new Int32Array(512), size: new Float32Array(room) };
}

function step(layout) {
  const { x, y, fx, fy, from, to, degree, tree } = layout;
  const count = x.length;
  fill(tree, x, y);
  const strength = SPRING * SPRING;
  for (let node = 0; node < count; node += 1) repel(tree, x, y, node, strength, fx, fy);
  for (let edge = 0; edge < from.length; edge += 1) {
    const a = from[edge];
    const b = to[edge];
    const dx = x[b] - x[a];
    const dy = y[b] - y[a];
    const far = Math.sqrt(dx * dx + dy * dy) || 1;
    // An edge of a hub pulls the hub little, or all would collapse onto it.
    const pull = (far - SPRING) / far;
    const weightA = 1 / Math.max(1, Math.sqrt(degree[a]));
    const weightB = 1 / Math.max(1, Math.sqrt(degree[b]));
    const force = pull * 2.2 * Math.min(weightA, weightB) * 2;
    fx[a] += dx * force * weightA; fy[a] += dy * force * weightA;
    fx[b] -= dx * force * weightB; fy[b] -= dy * force * weightB;
  }
  const heat = layout.heat * (layout.left / layout.total) ** 1.5 + 0.5;
  for (let node = 0; node < count; node += 1) {
    const gx = fx[node] - x[node] * 0.03;
    const gy = fy[node] - y[node] * 0.03;
    const far = Math.sqrt(gx * gx + gy * gy) || 1;
    const go = Math.min(far, heat) / far;
    x[node] += gx * go; y[node] += gy * go;
    fx[node] = 0; fy[node] = 0;
  }
  layout.left -= 1;
}

/** The quadtree: a child is 0 (none), node + 1 below zero (a leaf), or the number of a cell. */
function fill(tree, x, y) {
  let least = Infinity;
  let most = -Infinity;
  for (let node = 0; node < x.length; node += 1) {
    least = Math.min(least, x[node], y[node]);
    most = Math.max(most, x[node], y[node]);
  }
  const { child, mass, cx, cy, size, room } = tree;
  child.fill(0, 0, 8);
  mass[1] = 0; cx[1] = 0; cy[1] = 0;
  size[1] = Math.max(most - least, 1);
  tree.used = 2;
  for (let node = 0; node < x.length; node += 1) {
    let cell = 1;
    let left = least;
    let top = least;
    let width = size[1];
    for (let depth = 0; depth < 24; depth += 1) {
      mass[cell] += 1; cx[cell] += x[node]; cy[cell] += y[node];
      width /= 2;
      const right = x[node] >= left + width ? 1 : 0;
      const below = y[node] >= top + width ? 1 : 0;
      left += right * width; top += below * width;
      const slot = cell * 4 + right + 2 * below;
      const held = child[slot];
      if (held === 0) { child[slot] = -(node + 1); break; }
      if (held > 0) { cell = held; continue; }
      if (tree.used >= room || depth === 23) break;
      const other = -held - 1;
      const fresh = tree.used;
      tree.used += 1;
      child.fill(0, fresh * 4, fresh * 4 + 4);
      size[fresh] = width;
      mass[fresh] = 1; cx[fresh] = x[other]; cy[fresh] = y[other];
      const otherRight = x[other] >= left + width / 2 ? 1 : 0;
      const otherBelow = y[other] >= top + width / 2 ? 1 : 0;
      child[fresh * 4 + otherRight + 2 * otherBelow] = held;
      child[slot] = fresh;
      cell = fresh;
    }
  }
}

function repel(tree, x, y, node, strength, fx, fy) {
  const { child, mass, cx, cy, size, stack } = tree;
  const px = x[node];
  const py = y[node];
  let ax = 0;
  let ay = 0;
  let top = 0;
  stack[top++] = 1;
  while (top > 0) {
    const cell = stack[--top];
    const m = mass[cell];
    const dx = px - cx[cell] / m;
    const dy = py - cy[cell] / m;
    const far = dx * dx + dy * dy;
    if (size[cell] * size[cell] < THETA * THETA * far) {
      const push = (strength * m) / (far + 1);
      ax += dx * push; ay += dy * push;
      continue;
    }
    for (let slot = cell * 4; slot < cell * 4 + 4; slot += 1) {
      const held = child[slot];
      if (held > 0) { if (top < 508) stack[top++] = held; } else if (held < 0 && -held - 1 !== node) {
        const other = -held - 1;
        const ox = px - x[other] || (node - other) * 0.01;
        const oy = py - y[other] || 0.01;
        const push = strength / (ox * ox + oy * oy + 1);
        ax += ox * push; ay += oy * push;
      }
    }
  }
  fx[node] += ax; fy[node] += ay;
}
