// The page of runs: one run with its timeline, merges and nodes; what has changed; the history of each model.

const CHANGES = {
  failed: ["✗", "fails now"], slower: ["◷", "slower than usual"], "more-files": ["▤", "the table has more files"],
  "wider-scan": ["▲", "scans more of its files"], verdict: ["◆", "another verdict"], "verdict-broken": ["!", "the verdict did not hold"],
};

async function runView(main, index, query) {
  const line = data.runs[index];
  const run = await chunk(index);
  const time = threadTime(run);
  const go = (tab) => { location.hash = address("run", line.id, { tab }); };
  const tile = (value, label) => h("div", { class: "tile" }, h("span", { class: "tile-value" }, value), h("span", { class: "tile-label" }, label));
  replace(main,
    h("div", { class: "title" }, h("h1", { tabindex: "-1" }, `${line.command} of ${data.project}`), statusMark(line.ok ? "success" : "error")),
    h("p", { class: "muted" }, `${when(line.started_at)} · target ${line.target} · ${Object.entries(line.counts).map(([status, value]) => `${count(value)} ${status}`).join(", ")}`),
    h("div", { class: "tiles" }, tile(duration(run.seconds), "in all"), time && tile(duration(time.critical), "work on the critical path"), time && tile(`${Math.round((100 * time.work) / Math.max(0.001, time.work + time.idle))} %`, `of ${counted(time.threads, "thread")} at work`), run.spark && tile(duration(run.spark.seconds), "until Spark was ready")));
  const bad = run.nodes.filter((node) => [...FAILED, "warn"].includes(node.status));
  if (bad.length) main.append(h("section", {}, h("h2", {}, "What did not pass"), h("ul", { class: "findings" }, bad.slice(0, 20).map((node) => h("li", { class: node.status === "warn" ? "warning" : "error" }, h("p", {}, statusMark(node.status), " ", h("strong", {}, node.name)), node.message && h("pre", { class: "message" }, node.message)))), bad.length > 20 && h("p", { class: "muted" }, `and ${bad.length - 20} more in the table of nodes`)));
  if (index === 0 && data.changes.length) main.append(changesSection(data.changes));
  const merges = run.nodes.filter((node) => (node.response || {}).operation === "MERGE");
  const list = [["time", "Timeline", (panel) => timeTab(panel, run, time)]];
  if (merges.length) list.push(["merges", `Merges (${merges.length})`, (panel) => mergesTab(panel, merges)]);
  const batched = run.nodes.filter((node) => (node.batches || []).length);
  if (batched.length) list.push(["batches", `Batches (${count(batched.reduce((sum, node) => sum + node.batches.length, 0))})`, (panel) => batchesTab(panel, run, batched)]);
  const compared = run.nodes.filter((node) => node.difference);
  if (compared.length) list.push(["rows", `Row changes (${compared.length})`, (panel) => rowsTab(panel, compared)]);
  list.push(["nodes", `Nodes (${run.nodes.length})`, (panel) => nodesTab(panel, run)]);
  const commits = commitsOf(run).length;
  if (commits) list.push(["versions", `Table versions (${commits})`, (panel) => versionsTab(panel, run)]);
  if (run.streams) list.push(["streams", "Streams", (panel) => streamsTab(panel, run.streams)]);
  append(main, tabs("Parts of the run", list, query.get("tab"), go));
}

const SHOWN_CHANGES = 5, LISTED_CHANGES = 200;

/** What is different since the last runs, worst first: the first few, and the others on demand. */
function changesSection(changes) {
  const line = (each) => h("li", {}, h("span", { "aria-hidden": "true", class: "change-mark" }, CHANGES[each.kind][0]), h("a", { href: address("node", each.id) }, each.name), ` ${CHANGES[each.kind][1]}: `, h("span", { class: "muted" }, `${each.before} → `), each.now);
  const list = (some) => h("ul", { class: "changes" }, some.map(line));
  const others = changes.slice(SHOWN_CHANGES, LISTED_CHANGES);
  return h("section", {}, h("h2", {}, "Since the last runs"), list(changes.slice(0, SHOWN_CHANGES)),
    others.length > 0 && h("details", { class: "more" }, h("summary", {}, `${counted(changes.length - SHOWN_CHANGES, "other change")}`), list(others)));
}

function timeTab(panel, run, time) {
  if (!time) { panel.append(run.nodes.length ? emptyState("Nothing had to be done", "The table of nodes says why.") : emptyState("No node ran")); return; }
  const detail = h("div", { class: "chosen", role: "status" });
  append(panel, [
    timelineView(run, (node) => replace(detail, nodeFacts(run, node))),
    h("p", { class: "legend" }, h("span", { class: "legend-item" }, h("span", { class: "swatch outline-swatch" }), "on the critical path"), Object.entries(PHASES).map(([name, label]) => h("span", { class: "legend-item" }, h("span", { class: `swatch phase-swatch-${name}` }), label)), h("span", { class: "legend-item" }, "↻ retry")),
    detail,
    h("h2", {}, "Working and waiting"),
    h("div", { class: "bar", role: "img", "aria-label": `${duration(time.work)} of work, ${duration(time.idle)} idle` }, h("span", { class: "bar-part fill-static", style: { flex: String(time.work) } }), h("span", { class: "bar-part fill-idle", style: { flex: String(time.idle) } })),
    h("p", { class: "muted" }, `${counted(time.threads, "thread")} worked ${duration(time.work)} and were idle ${duration(time.idle)} in the ${duration(time.span)} that nodes ran.`),
    h("h2", {}, "The critical path"),
    h("p", { class: "muted" }, "Each node began when the one before it had ended: to make the run shorter, one of these has to be faster."),
    sortedTable("Critical path", [
      { label: "Node", cell: (node) => runLink(node) },
      { label: "Began", number: true, cell: (node) => duration(node.start) },
      { label: "Took", number: true, cell: (node) => duration(node.end - node.start) },
      { label: "After", cell: (node) => (node.after ? `${node.by === "thread" ? "its thread ran " : ""}${nameOf(run, node.after)}` : "the start") },
    ], run.nodes.filter((node) => node.critical).sort((a, b) => a.start - b.start))]);
}

const nameOf = (run, id) => (run.nodes.find((node) => node.id === id) || { name: id }).name;
const runLink = (node) => (data.history[node.id] ? h("a", { href: address("node", node.id) }, node.name) : node.name);

function nodeFacts(run, node) {
  return [h("h2", {}, node.name), factList({
    status: statusMark(node.status), took: duration(node.end - node.start), "waited for a thread": node.start - node.ready > 0.05 ? duration(node.start - node.ready) : null,
    phases: phases(node).filter(([, seconds]) => seconds >= 0.01).map(([name, seconds]) => `${name} ${duration(seconds)}`).join(", "),
    "critical path": node.critical ? `after ${node.after ? nameOf(run, node.after) : "the start"}` : null, message: node.message,
    retries: (node.retries || []).map((each) => `attempt ${each.attempt}: ${each.code}, again after ${each.pause.toFixed(1)} s`).join("; ") || null,
    waited: (node.waits || []).map((each) => each.message).join("; ") || null,
  })];
}

function factList(values) {
  return h("dl", { class: "facts" }, Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "").map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value instanceof Node ? value : String(value)))));
}

function share(part, whole, text) {
  if (!whole) return text;
  const known = part / whole;
  return h("span", { class: "share" }, h("span", { class: "share-bar", "aria-hidden": "true" }, h("span", { class: `share-part${known > 0.9 ? " all" : ""}`, style: { width: `${Math.round(100 * known)}%` } })), text);
}

const inSeconds = (milliseconds) => (isKnown(milliseconds) ? milliseconds / 1000 : null);
const withPrediction = (written, real, expected) => [written(real), isKnown(expected) && h("span", { class: "muted" }, ` of ${written(expected)} predicted`)];

function mergesTab(panel, merges) {
  const figure = (name) => ({ number: true, value: (node) => node.response[name], cell: (node) => count(node.response[name]) });
  const changed = (node) => (node.response.rows_updated || 0) + (node.response.rows_deleted || 0);
  const amplification = (node) => (node.response.rows_copied !== undefined && changed(node) ? node.response.rows_copied / changed(node) : null);
  panel.append(sortedTable("Merges", [
    { label: "Merge", value: (node) => node.name, cell: runLink },
    { label: "Verdict", value: (node) => node.response.verdict, cell: (node) => [verdictMark(node.response.verdict), node.response.verdict_held === true && h("span", { class: "muted" }, " held"), node.response.verdict_held === false && h("strong", { class: "status-error" }, " did not hold")] },
    { label: "Time", number: true, value: (node) => node.seconds, cell: (node) => duration(node.seconds) },
    { label: "Files scanned", value: (node) => node.response.files_scanned, cell: (node) => (node.response.files_total === undefined ? "–" : share(node.response.files_scanned, node.response.files_total, `${count(node.response.files_scanned)} of ${count(node.response.files_total)}`)) },
    { label: "Read", number: true, value: (node) => node.response.bytes_scanned, cell: (node) => withPrediction(bytes, node.response.bytes_scanned, node.response.predicted?.bytes) },
    { label: "Statement", number: true, value: (node) => node.response.execution_ms, cell: (node) => withPrediction(duration, inSeconds(node.response.execution_ms), node.response.predicted?.seconds) },
    { label: "Inserted", ...figure("rows_inserted") }, { label: "Updated", ...figure("rows_updated") }, { label: "Deleted", ...figure("rows_deleted") }, { label: "Copied", ...figure("rows_copied") },
    { label: "Copied per change", number: true, value: amplification, cell: (node) => (amplification(node) === null ? "–" : amplification(node).toFixed(1)) },
    { label: "Written", number: true, value: (node) => node.response.bytes_added, cell: (node) => bytes(node.response.bytes_added) },
    { label: "Scan", number: true, value: (node) => node.response.scan_ms, cell: (node) => (node.response.scan_ms === undefined ? "–" : duration(node.response.scan_ms / 1000)) },
    { label: "Rewrite", number: true, value: (node) => node.response.rewrite_ms, cell: (node) => (node.response.rewrite_ms === undefined ? "–" : duration(node.response.rewrite_ms / 1000)) },
    { label: "Attempts", number: true, value: (node) => node.response.attempts, cell: (node) => count(node.response.attempts) },
  ], merges, { by: 2, down: true }));
}

/** What each table has now and had before the run. */
function rowsTab(panel, compared) {
  const figure = (name) => ({ number: true, value: (node) => node.difference.rows?.[name], cell: (node) => count(node.difference.rows?.[name]) });
  const otherColumns = (schema) => [...(schema?.only_left || []), ...(schema?.only_right || []), ...Object.keys(schema?.types || {})];
  append(panel, [
    h("p", { class: "muted" }, "Each table that was written, compared with its version before the run: changed rows have the same key and other values."),
    sortedTable("Row changes", [
      { label: "Table", value: (node) => node.name, cell: runLink },
      { label: "Result", value: (node) => node.difference.error || String(node.difference.equal), cell: ({ difference }) => difference.error || (difference.equal ? "equal" : "different") },
      { label: "Rows before", ...figure("right") }, { label: "Rows now", ...figure("left") },
      { label: "Added", ...figure("only_left") }, { label: "Removed", ...figure("only_right") }, { label: "Changed", ...figure("changed") },
      { label: "Changed rows by column", cell: (node) => Object.entries(node.difference.columns || {}).map(([name, rows]) => `${name} ${count(rows)}`).join(", ") || "–" },
      compared.some(({ difference }) => otherColumns(difference.schema).length) && { label: "New, gone, other type", cell: (node) => otherColumns(node.difference.schema).join(", ") || "–" },
    ].filter(Boolean), compared, { by: 6, down: true })]);
}

function nodesTab(panel, run) {
  const most = 500;
  panel.append(sortedTable("Nodes", [
    { label: "Node", value: (node) => node.name, cell: runLink },
    { label: "Kind", value: (node) => node.kind, cell: (node) => (node.materialized || node.kind).replace("_", " ") },
    { label: "Status", value: (node) => node.status, cell: (node) => statusMark(node.status) },
    { label: "Began", number: true, value: (node) => node.start, cell: (node) => duration(node.start) },
    { label: "Waited", number: true, value: (node) => (node.start === undefined ? null : node.start - node.ready), cell: (node) => (node.start === undefined ? "–" : duration(node.start - node.ready)) },
    { label: "Time", number: true, value: (node) => node.seconds, cell: (node) => duration(node.seconds) },
    { label: "Message", cell: (node) => (node.message || "").split("\n")[0].slice(0, 160) },
  ], [...run.nodes].sort((a, b) => (b.seconds || 0) - (a.seconds || 0)).slice(0, most), { by: 5, down: true }));
  if (run.nodes.length > most) panel.append(h("p", { class: "muted" }, `The ${most} slowest of ${count(run.nodes.length)}.`));
}

function streamsTab(panel, streams) {
  for (const stream of streams) {
    const lags = stream.recent.filter((each) => each.lag !== null).map((each) => each.lag / 1000);
    append(panel, [h("h2", {}, stream.stream), factList({ batches: count(stream.batches), rows: count(stream.rows), "median of a batch": duration(stream.p50), "99th percentile": duration(stream.p99) }),
      h("h3", {}, "Time of each batch"), chart(stream.recent.map((each) => each.seconds), `Time of the last ${stream.recent.length} batches`),
      lags.length > 0 && h("h3", {}, "Lag of the slowest target"), lags.length > 0 && chart(lags, "Lag of the last batches")]);
  }
}

/** Columns for values from old to new. */
function chart(values, label) {
  const width = 640, height = 90, most = Math.max(...values, 0.001), step = Math.min(34, width / Math.max(values.length, 1));
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height + 16}`, role: "img", "aria-label": `${label}: from ${duration(values[0])} to ${duration(values[values.length - 1])}, at most ${duration(most)}` },
    svg("text", { x: 0, y: 10, class: "tick-label start" }, `at most ${duration(most)}`),
    values.map((value, place) => svg("rect", { x: place * step, y: 16 + height - (value / most) * height, width: Math.max(1, Math.min(28, step - 2)), height: (value / most) * height, class: "chart-bar" }, svg("title", {}, duration(value)))));
}

function historyView(main, query) {
  const wanted = (query.get("find") || "").toLowerCase();
  const ids = Object.keys(data.history).filter((id) => id.toLowerCase().includes(wanted)).sort();
  const most = 250;
  const input = h("input", { type: "search", id: "find", value: query.get("find") || "", placeholder: "part of a name" });
  const runs = data.runs.slice(0, 20);
  const cell = (entry) => (entry ? h("td", { class: `cell fill-status-${dashed(entry[0])}`, title: `${entry[0]}, ${duration(entry[1])}` }, h("span", { "aria-hidden": "true" }, STATUSES[entry[0]]), h("span", { class: "off-screen" }, `${entry[0]} ${duration(entry[1])}`)) : h("td", { class: "cell" }));
  replace(main, h("h1", { tabindex: "-1" }, "History"),
    h("form", { class: "graph-bar history-bar", onsubmit: (event) => { event.preventDefault(); location.hash = address("history", undefined, { find: input.value.trim() }); } }, h("label", { for: "find" }, "Models"), input, h("button", { class: "button", type: "submit" }, "Show")),
    ids.length ? h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Models and runs" }, h("table", { class: "matrix" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Model"), h("th", { scope: "col", class: "number" }, "Last time"), runs.map((run) => h("th", { scope: "col" }, h("a", { href: address("run", run.id), title: when(run.started_at) }, day(run.started_at)))))),
      h("tbody", {}, ids.slice(0, most).map((id) => { const entries = data.history[id]; const last = entries.find(Boolean); return h("tr", {}, h("th", { scope: "row" }, h("a", { href: address("node", id) }, id.split(".").slice(2).join("."))), h("td", { class: "number" }, duration(last && last[1])), runs.map((run, at) => cell(entries[at]))); })))) : emptyState("No model has this in its name"),
    ids.length > most && h("p", { class: "muted" }, `The first ${most} of ${count(ids.length)}: a part of a name narrows it.`));
}

async function nodeHistory(main, id) {
  const entries = data.history[id];
  if (!entries) { missing(main, "No kept run has this node", id); return; }
  const ran = entries.map((entry, at) => ({ entry, run: data.runs[at] })).filter((each) => each.entry);
  const old = [...ran].reverse();
  const files = old.filter(({ entry }) => entry[3] !== null && entry[3] !== undefined);
  replace(main, h("div", { class: "title" }, h("h1", { tabindex: "-1" }, id.split(".").slice(2).join(".")), statusMark(ran[0].entry[0])),
    h("h2", {}, "Time"), chart(old.map(({ entry }) => entry[1] || 0), "Time of each run"),
    h("h2", {}, "Runs"), sortedTable("Runs", [
      { label: "Run", value: ({ run }) => run.started_at, cell: ({ run }) => h("a", { href: address("run", run.id) }, when(run.started_at)) },
      { label: "Command", value: ({ run }) => run.command, cell: ({ run }) => run.command },
      { label: "Status", value: ({ entry }) => entry[0], cell: ({ entry }) => statusMark(entry[0]) },
      { label: "Time", number: true, value: ({ entry }) => entry[1], cell: ({ entry }) => duration(entry[1]) },
      { label: "Files scanned", value: ({ entry }) => entry[2], cell: ({ entry }) => (files.length && entry[3] !== null && entry[3] !== undefined ? share(entry[2], entry[3], `${count(entry[2])} of ${count(entry[3])}`) : "–") },
    ], ran));
  const shown = main.firstChild;
  const { size, batches } = await batchesOf(id);
  if (batches.length && main.firstChild === shown) append(main, [h("h2", {}, "Batches"), batchesTogether(id.split(".").slice(2).join("."), size, batches, false)]);
  const { commits, cut } = await versionsOf(id);
  if (commits.length && main.firstChild === shown) append(main, [h("h2", {}, "Versions of the table"), versionTable("Versions of the table", commits), cut && cutNote([id.split(".").slice(2).join(".")])]);
}

function runsPage() {
  const main = h("main", { id: "main", tabindex: "-1" });
  const list = h("ul", { class: "runs" }, data.runs.map((run) => h("li", {}, h("a", { href: address("run", run.id), "data-run": run.id }, statusMark(run.ok ? "success" : "error"), h("span", { class: "run-command" }, ` ${run.command}`), h("span", { class: "run-time" }, duration(run.seconds)), h("span", { class: "run-when" }, when(run.started_at))))));
  const history = h("a", { href: "#/history" }, "History"), newest = h("a", { href: "#/" }, "Last run");
  const menu = h("button", { class: "icon-button menu", type: "button", "aria-label": "List of runs", "aria-expanded": "false", "aria-controls": "side", onclick: () => menu.setAttribute("aria-expanded", String(document.body.classList.toggle("side-open"))) }, "☰");
  document.body.append(h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); } }, "Skip to the content"),
    h("header", { class: "top" }, menu, h("a", { class: "brand", href: "#/", "aria-label": data.project }, h("span", { class: "brand-mark", "aria-hidden": "true" }, "⋈"), h("span", { class: "brand-name" }, data.project)), h("span", { class: "space" }), h("nav", { class: "links", "aria-label": "Views" }, newest, history), themeButton()),
    h("div", { class: "body" }, h("nav", { class: "side scrolls", "aria-label": "Runs", id: "side", tabindex: "0" }, h("h2", { class: "side-title" }, `Runs (${data.runs.length})`), list), main));
  let before = false;
  async function show() {
    const { view, name, query } = currentAddress();
    document.body.classList.remove("side-open");
    const index = view === "run" ? Math.max(0, data.runs.findIndex((run) => run.id === name)) : 0;
    const current = { history, "": newest }[view];
    for (const each of [history, newest]) if (each === current) each.setAttribute("aria-current", "page"); else each.removeAttribute("aria-current");
    for (const each of list.querySelectorAll("a")) if ((view === "run" || view === "") && each.dataset.run === data.runs[index].id) each.setAttribute("aria-current", "page"); else each.removeAttribute("aria-current");
    if (view === "history") historyView(main, query);
    else if (view === "node") await nodeHistory(main, name);
    else await runView(main, index, query);
    const title = main.querySelector("h1");
    document.title = `${title ? `${title.textContent} · ` : ""}merge-runner`;
    if (before && title && !query.has("tab")) { title.focus({ preventScroll: true }); main.scrollTop = 0; }
    else if (before && query.has("tab")) { const tab = main.querySelector('[role="tab"][aria-selected="true"]'); if (tab) tab.focus(); }
    before = true;
    document.documentElement.dataset.shown = location.hash || "#/";
  }
  addEventListener("hashchange", show);
  show();
}

if (document.documentElement.dataset.view === "runs") runsPage();
