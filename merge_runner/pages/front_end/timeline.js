// The timeline of a run: a lane for each thread, the phases of each MERGE, the critical path, what waited for what.

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, props, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  append(made, children);
  return made;
}

const LANE = 34, BAR = 24, GUTTER = 74;

function ticks(most, wanted) {
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400];
  const step = steps.find((each) => most / each <= wanted) || most || 1;
  const found = [];
  for (let at = 0; at <= most + 1e-9; at += step) found.push(Math.round(at * 10) / 10);
  return found;
}

const tickText = (at) => (at === 0 ? "0" : at < 60 ? `${at} s` : at % 60 || at >= 3600 ? duration(at) : `${at / 60} min`);

/** The phases of a node in seconds: scan and rewrite of a MERGE, and all else of it. */
function phases(node) {
  const figures = node.response || {};
  const whole = Math.max(0, (node.end || 0) - (node.start || 0));
  if (figures.scan_ms === undefined && figures.rewrite_ms === undefined) {
    const statement = Math.min(whole, (figures.execution_ms || 0) / 1000);
    return figures.execution_ms === undefined ? [["work", whole]] : [["around", whole - statement], ["work", statement]];
  }
  const scan = Math.min(whole, (figures.scan_ms || 0) / 1000), rewrite = Math.min(whole - scan, (figures.rewrite_ms || 0) / 1000);
  const commit = Math.max(0, Math.min(whole - scan - rewrite, (figures.execution_ms || 0) / 1000 - scan - rewrite));
  return [["around", whole - scan - rewrite - commit], ["scan", scan], ["rewrite", rewrite], ["commit", commit]];
}

const PHASES = { around: "before and after the statement", scan: "find the files with matches", rewrite: "write the files", commit: "commit, and what the engine does not count", work: "the statement" };

function timelineView(run, choose) {
  const ran = run.nodes.filter((node) => node.start !== undefined);
  const most = Math.max(run.seconds, ...ran.map((node) => node.end), 0.1);
  const lanes = Math.max(0, ...ran.map((node) => node.lane + 1));
  const rows = lanes + (run.spark ? 1 : 0);
  const height = rows * LANE + 30;
  const holder = h("div", { class: "timeline", tabindex: "0", role: "region", "aria-label": "Timeline; left and right arrow walk through the nodes, what they did is shown below", onkeydown: walk });
  const order = [...ran].sort((a, b) => a.start - b.start || a.lane - b.lane);
  const groups = new Map();
  let zoom = 1, chosen = -1;
  function walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !order.length) return;
    event.preventDefault();
    take(order[Math.max(0, Math.min(order.length - 1, chosen + step))]);
    groups.get(order[chosen].id).scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  function take(node) {
    chosen = order.indexOf(node);
    choose(node);
    mark();
  }
  function mark() {
    for (const [id, group] of groups) group.classList.toggle("taken", chosen >= 0 && id === order[chosen].id);
  }
  function draw() {
    const width = Math.max(320, (holder.clientWidth - 2) * zoom);
    const x = (seconds) => GUTTER + (seconds / most) * (width - GUTTER - 12);
    const y = (lane) => 24 + (lane + (run.spark ? 1 : 0)) * LANE;
    const drawing = svg("svg", { width, height, role: "img", "aria-label": `${counted(ran.length, "node")} on ${counted(lanes, "thread")} in ${duration(run.seconds)}` });
    for (const at of ticks(most, Math.max(2, Math.floor(width / 90)))) drawing.append(svg("line", { x1: x(at), x2: x(at), y1: 20, y2: height, class: "tick" }), svg("text", { x: x(at), y: 13, class: "tick-label" }, tickText(at)));
    if (run.spark) drawing.append(svg("text", { x: 4, y: 24 + BAR / 2 + 4, class: "lane-label" }, "Spark"),
      svg("rect", { x: x(Math.max(0, run.spark.at - run.spark.seconds)), y: 24, width: Math.max(2, x(run.spark.at) - x(Math.max(0, run.spark.at - run.spark.seconds))), height: BAR, rx: 4, class: "bar-spark" }, svg("title", {}, `Spark started in ${duration(run.spark.seconds)}`)));
    for (let lane = 0; lane < lanes; lane += 1) drawing.append(svg("text", { x: 4, y: y(lane) + BAR / 2 + 4, class: "lane-label" }, `thread ${lane + 1}`));
    const byId = new Map(ran.map((node) => [node.id, node]));
    for (const node of ran) {
      const before = node.critical && byId.get(node.after);
      if (before) drawing.append(svg("path", { d: `M${x(before.end)} ${y(before.lane) + BAR / 2} L${x(node.start)} ${y(node.lane) + BAR / 2}`, class: `path-${node.by}` }));
    }
    groups.clear();
    for (const node of ran) drawing.append(bar(node, x, y(node.lane)));
    replace(holder, drawing);
    mark();
  }
  function bar(node, x, top) {
    const left = x(node.start), width = Math.max(1.5, x(node.end) - left);
    const group = svg("g", { class: `bar-node fill-status-${dashed(node.status)}${node.critical ? " critical" : ""}`, onclick: () => take(node) }, svg("title", {}, `${node.name}: ${node.status}, ${duration(node.end - node.start)}${node.critical ? ", on the critical path" : ""}`));
    groups.set(node.id, group);
    let done = 0;
    for (const [name, seconds] of phases(node)) {
      if (seconds <= 0) continue;
      group.append(svg("rect", { x: x(node.start + done), y: top, width: Math.max(0.5, x(node.start + done + seconds) - x(node.start + done)), height: BAR, class: `phase-${name}` }));
      done += seconds;
    }
    group.append(svg("rect", { x: left, y: top, width, height: BAR, rx: 4, class: "outline" }));
    if (width > 46) group.append(svg("text", { x: left + 6, y: top + BAR / 2 + 4, class: "bar-label" }, fitting(node.name, width - 12)));
    for (const retry of node.retries || []) group.append(svg("text", { x: x(retry.at), y: top - 1, class: "retry" }, "↻"));
    return group;
  }
  new ResizeObserver(draw).observe(holder);
  const scale = h("label", { class: "field" }, "Zoom", h("input", { type: "range", min: "1", max: "20", step: "1", value: "1", oninput: (event) => { zoom = Number(event.target.value); draw(); } }));
  return [scale, holder];
}

const fitting = (text, width) => (text.length * 6.6 <= width ? text : `${text.slice(0, Math.max(1, Math.floor(width / 6.6) - 1))}…`);

/** The seconds that threads worked on a node: its batches run at the same time, or wait between others. */
const worked = (node) => (node.batches ? node.batches.reduce((sum, batch) => sum + (batch.seconds || 0), 0) : node.end - node.start);

/** Where the time of the threads went, in seconds; null where nothing had to be done. */
function threadTime(run) {
  const ran = run.nodes.filter((node) => node.start !== undefined);
  if (!ran.some((node) => node.critical)) return null;
  const first = Math.min(...ran.map((node) => node.start)), last = Math.max(...ran.map((node) => node.end));
  const threads = run.threads || Math.max(...ran.map((node) => node.lane + 1));
  const work = ran.reduce((sum, node) => sum + worked(node), 0);
  const critical = ran.filter((node) => node.critical).reduce((sum, node) => sum + node.end - node.start, 0);
  return { first, last, span: last - first, threads, work, idle: Math.max(0, threads * (last - first) - work), critical };
}
