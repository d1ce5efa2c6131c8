// The DAG on a canvas: nodes in the columns and the order that Python has computed, panned, zoomed and walked by keys.

const BOX = { width: 168, height: 30, across: 236, down: 42 };
const BEND = 16;
const MOST_BENT = 400;

/**
 * Place some nodes: columns by level, each as near to its neighbours as its order and the space allow. An edge over several
 * columns has a bend in each, which is placed as a node is, so that it passes between boxes; in large graphs it has none.
 */
function placed(numbers) {
  const shown = new Set(numbers);
  const levels = [...new Set(numbers.map((number) => data.nodes[number].at[0]))].sort((a, b) => a - b);
  const columnOf = new Map(levels.map((level, column) => [level, column]));
  const columns = levels.map(() => []);
  const before = new Map(), after = new Map(), order = new Map();
  const add = (item, column, at) => { columns[column].push(item); order.set(item, at); before.set(item, []); after.set(item, []); };
  for (const number of numbers) add(number, columnOf.get(data.nodes[number].at[0]), data.nodes[number].at[1]);
  const join = (from, to) => { after.get(from).push(to); before.get(to).push(from); };
  const edges = [];
  for (const node of numbers) {
    const last = columnOf.get(data.nodes[node].at[0]);
    for (const parent of parentsOf(node)) {
      if (!shown.has(parent)) continue;
      const first = columnOf.get(data.nodes[parent].at[0]), bends = [];
      let from = parent;
      for (let column = first + 1; column < last && numbers.length <= MOST_BENT; column += 1) {
        const bend = { column };
        const part = (column - first) / (last - first);
        add(bend, column, order.get(parent) + (order.get(node) - order.get(parent)) * part);
        join(from, bend);
        bends.push(bend);
        from = bend;
      }
      join(from, node);
      edges.push([parent, node, bends]);
    }
  }
  for (const column of columns) column.sort((a, b) => order.get(a) - order.get(b));
  const y = new Map();
  columns.forEach((column) => column.forEach((item, place) => y.set(item, (place - (column.length - 1) / 2) * BOX.down)));
  const mean = (others) => others.reduce((sum, each) => sum + y.get(each), 0) / others.length;
  for (let sweep = 0; sweep < 8; sweep += 1) {
    const near = sweep % 2 === 0 ? before : after;
    for (const column of sweep % 2 === 0 ? columns : [...columns].reverse()) {
      const wanted = column.map((item) => (near.get(item).length ? mean(near.get(item)) : y.get(item)));
      spread(wanted, column.map((item) => (typeof item === "number" ? BOX.down : BEND))).forEach((value, place) => y.set(column[place], value));
    }
  }
  const boxes = new Map();
  columns.forEach((column, number) => column.forEach((item) => { if (typeof item === "number") boxes.set(item, { x: number * BOX.across, y: y.get(item) }); }));
  return { boxes, edges: edges.map(([from, to, bends]) => [from, to, bends.map((bend) => ({ x: bend.column * BOX.across, y: y.get(bend) + BOX.height / 2 }))]), columns: columns.map((column) => column.filter((item) => typeof item === "number")) };
}

/** Positions in order, with so much space for each, and the least squared distance to those wanted (pooled neighbours). */
function spread(wanted, heights) {
  const pools = [], tops = [];
  let top = 0;
  heights.forEach((height, place) => { top += place ? (height + heights[place - 1]) / 2 : 0; tops.push(top); });
  wanted.forEach((value, place) => {
    pools.push({ sum: value - tops[place], size: 1 });
    while (pools.length > 1 && pools[pools.length - 2].sum / pools[pools.length - 2].size >= pools[pools.length - 1].sum / pools[pools.length - 1].size) {
      const last = pools.pop();
      pools[pools.length - 1].sum += last.sum;
      pools[pools.length - 1].size += last.size;
    }
  });
  const found = [];
  for (const pool of pools) for (let each = 0; each < pool.size; each += 1) found.push(pool.sum / pool.size + tops[found.length]);
  return found;
}

/** A drawing of some nodes. `fill(node)` is [name of a colour, mark]; `onopen` gets a number. */
function dagView(numbers, { fill, focus, onopen, label, onfocus }) {
  const { boxes, edges, columns } = placed(numbers);
  const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": label });
  const frame = h("div", { class: "dag" }, canvas);
  const view = { x: 0, y: 0, zoom: 1 };
  let width = 0, height = 0, over = null, chosen = focus === undefined ? null : focus, near = neighbours(), queued = false, fitted = false;

  function neighbours() {
    const base = over === null ? chosen : over;
    if (base === null) return null;
    return { base, up: reached([base], null, Infinity), down: reached([base], childrenOf, Infinity) };
  }
  const lit = (number) => !near || near.up.has(number) || near.down.has(number);
  function redraw() { if (!queued) { queued = true; requestAnimationFrame(() => { queued = false; draw(); }); } }

  function draw() {
    const context = canvas.getContext("2d");
    const ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.translate(view.x, view.y);
    context.scale(view.zoom, view.zoom);
    const left = -view.x / view.zoom, top = -view.y / view.zoom, right = left + width / view.zoom, bottom = top + height / view.zoom;
    const colours = new Map();
    const tint = (name) => { if (!colours.has(name)) colours.set(name, colour(name)); return colours.get(name); };
    context.lineWidth = Math.max(1.2, 0.6 / view.zoom);
    for (const bright of near ? [false, true] : [true]) {
      context.beginPath();
      for (const [from, to, bends] of edges) {
        const on = !near || (near.up.has(from) && near.up.has(to)) || (near.down.has(from) && near.down.has(to));
        if (on !== bright) continue;
        const a = boxes.get(from), b = boxes.get(to);
        if (b.x < left || a.x > right || Math.max(a.y, b.y) < top - 40 || Math.min(a.y, b.y) > bottom + 40) continue;
        const ends = [{ x: b.x, y: b.y + BOX.height / 2 }];
        let x = a.x + BOX.width, y = a.y + BOX.height / 2;
        context.moveTo(x, y);
        for (const each of [...bends, ...ends]) {
          const lean = Math.min(60, (each.x - x) / 2 + 8);
          context.bezierCurveTo(x + lean, y, each.x - lean, each.y, each.x, each.y);
          if (each !== ends[0]) context.lineTo(each.x + BOX.width, each.y);
          x = each.x + BOX.width;
          y = each.y;
        }
      }
      context.strokeStyle = tint(near && bright ? "accent" : "edge");
      context.globalAlpha = near && !bright ? 0.35 : 1;
      context.stroke();
    }
    const small = view.zoom < 0.42;
    context.textBaseline = "middle";
    for (const [number, box] of boxes) {
      if (box.x > right || box.x + BOX.width < left || box.y > bottom || box.y + BOX.height < top) continue;
      const node = data.nodes[number];
      const [name, mark] = fill(node);
      context.globalAlpha = lit(number) ? 1 : 0.3;
      context.beginPath();
      context.roundRect(box.x, box.y, BOX.width, BOX.height, node.kind === "source" ? 15 : 6);
      context.fillStyle = small ? tint(name) : tint("panel");
      context.fill();
      context.lineWidth = number === chosen ? 3 : 1.2;
      context.strokeStyle = number === chosen ? tint("accent") : tint(name);
      context.stroke();
      if (small) continue;
      context.fillStyle = tint(name);
      context.font = "600 12px system-ui, sans-serif";
      context.fillText(mark, box.x + 10, box.y + BOX.height / 2 + 0.5);
      context.fillStyle = tint("ink");
      context.font = "12.5px system-ui, sans-serif";
      context.fillText(shortened(context, node.name, BOX.width - 34), box.x + 26, box.y + BOX.height / 2 + 0.5);
    }
    context.globalAlpha = 1;
  }

  function fit() {
    if (!boxes.size || !width) return;
    const all = [...boxes.values()];
    const x1 = Math.min(...all.map((box) => box.x)), x2 = Math.max(...all.map((box) => box.x)) + BOX.width;
    let y1 = Infinity, y2 = -Infinity;
    for (const box of all) { y1 = Math.min(y1, box.y); y2 = Math.max(y2, box.y + BOX.height); }
    view.zoom = Math.min(1.15, (width - 32) / (x2 - x1), (height - 32) / (y2 - y1));
    view.x = (width - (x1 + x2) * view.zoom) / 2;
    view.y = (height - (y1 + y2) * view.zoom) / 2;
    redraw();
  }
  function zoom(factor, x = width / 2, y = height / 2) {
    const next = Math.max(0.02, Math.min(3, view.zoom * factor));
    view.x = x - (x - view.x) * (next / view.zoom);
    view.y = y - (y - view.y) * (next / view.zoom);
    view.zoom = next;
    redraw();
  }
  function hit(event) {
    const box = canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - view.x) / view.zoom, y = (event.clientY - box.top - view.y) / view.zoom;
    for (const [number, at] of boxes) if (x >= at.x && x <= at.x + BOX.width && y >= at.y && y <= at.y + BOX.height) return number;
    return null;
  }
  function choose(number) {
    chosen = number;
    near = neighbours();
    if (onfocus) onfocus(number);
    const box = boxes.get(number);
    const x = box.x * view.zoom + view.x, y = box.y * view.zoom + view.y;
    if (x < 10 || x + BOX.width * view.zoom > width - 10) view.x += width / 2 - x - (BOX.width * view.zoom) / 2;
    if (y < 10 || y + BOX.height * view.zoom > height - 10) view.y += height / 2 - y;
    redraw();
  }
  function walk(key) {
    if (chosen === null || !boxes.has(chosen)) { if (numbers.length) choose(columns[0][0]); return; }
    const column = columns.find((each) => each.includes(chosen));
    const nearest = (others) => others.filter((each) => boxes.has(each)).sort((a, b) => Math.abs(boxes.get(a).y - boxes.get(chosen).y) - Math.abs(boxes.get(b).y - boxes.get(chosen).y))[0];
    const next = { ArrowRight: nearest(childrenOf[chosen]), ArrowLeft: nearest(parentsOf(chosen)), ArrowUp: column[column.indexOf(chosen) - 1], ArrowDown: column[column.indexOf(chosen) + 1] }[key];
    if (next !== undefined) choose(next);
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      Object.assign(drag, { x: event.clientX, y: event.clientY, moved: true });
      view.x += dx; view.y += dy;
      redraw();
      return;
    }
    const found = hit(event);
    if (found !== over) { over = found; near = neighbours(); canvas.style.cursor = found === null ? "grab" : "pointer"; canvas.title = found === null ? "" : data.nodes[found].name; redraw(); }
  });
  canvas.addEventListener("pointerup", (event) => { const found = drag && !drag.moved ? hit(event) : null; drag = null; if (found !== null) onopen(found); });
  canvas.addEventListener("pointerleave", () => { if (over !== null) { over = null; near = neighbours(); redraw(); } });
  canvas.addEventListener("wheel", (event) => { if (!event.ctrlKey && frame.classList.contains("small")) return; event.preventDefault(); const box = canvas.getBoundingClientRect(); zoom(Math.exp(-event.deltaY * 0.0016), event.clientX - box.left, event.clientY - box.top); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) walk(event.key);
    else if (event.key === "Enter" && chosen !== null) onopen(chosen);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  const themed = () => { if (frame.isConnected) redraw(); else removeEventListener("themechange", themed); };
  addEventListener("themechange", themed);
  new ResizeObserver(() => { width = frame.clientWidth; height = frame.clientHeight; if (!fitted && width) { fitted = true; fit(); } else redraw(); }).observe(frame);
  const tool = (text, title, act) => h("button", { type: "button", class: "tool", title, "aria-label": title, onclick: act }, text);
  frame.append(h("div", { class: "dag-tools" }, tool("+", "Zoom in", () => zoom(1.3)), tool("−", "Zoom out", () => zoom(0.77)), tool("⤢", "Show all", fit)));
  return frame;
}

function shortened(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let end = Math.max(1, Math.floor((text.length * width) / context.measureText(text).width));
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}
