// The frame of the page of a project: the tree of nodes, the overview, the graph, and what each address shows.

const FILLS = {
  verdict: (node) => (node.verdict ? [`v-${node.verdict}${node.verdict === "none" && node.scan_full ? "-meant" : ""}`, VERDICTS[node.verdict][0]] : [node.kind === "source" ? "v-source" : "v-other", node.kind === "source" ? "▭" : node.kind === "seed" ? "▭" : "○"]),
  status: (node) => (node.status ? [`s-${dashed(node.status)}`, STATUSES[node.status] || "·"] : ["v-other", "○"]),
  time: (node) => heat(node.seconds, mostSeconds(), "time"),
  files: (node) => (node.files && node.files[1] ? heat(node.files[0] / node.files[1], 1, "files") : ["v-other", "○"]),
};
const LEGENDS = {
  verdict: [["v-static", "● static"], ["v-runtime", "◆ runtime"], ["v-none", "▲ none"], ["v-none-meant", "▲ none, meant (scan: full)"], ["v-unknown", "? unknown"], ["v-source", "▭ source, seed"], ["v-other", "○ other"]],
  status: [["s-success", "✓ success"], ["s-no-op", "= no-op"], ["s-warn", "! warn"], ["s-skipped", "– skipped"], ["s-partial-success", "◐ partial success"], ["s-error", "✗ error"], ["v-other", "○ not run"]],
  time: [["h-0", "1 short"], ["h-1", "2"], ["h-2", "3"], ["h-3", "4 longest"], ["v-other", "○ not run"]],
  files: [["h-0", "1 few files scanned"], ["h-1", "2"], ["h-2", "3"], ["h-3", "4 all files"], ["v-other", "○ not known"]],
};
const SECTIONS = [["model", "Models"], ["source", "Sources"], ["seed", "Seeds"], ["exposure", "Exposures"], ["analysis", "Analyses"], ["macro", "Macros"], ["test", "Data tests"], ["unit_test", "Unit tests"]];

let most = null;
const mostSeconds = () => (most === null ? (most = Math.max(0.001, ...data.nodes.map((node) => (node.at && node.seconds) || 0))) : most);
const heat = (value, top) => (value === null || value === undefined ? ["v-other", "○"] : (() => { const step = Math.min(3, Math.floor((value / top) * 4)); return [`h-${step}`, String(step + 1)]; })());

let keepFocus = false;
let tree = null;
const opened = new Set(["model", "source", "seed", "exposure", "macro"]);

function treeRows() {
  const rows = [];
  for (const [kind, title] of SECTIONS) {
    const items = kind === "macro" ? data.macros.map((macro) => ({ name: macro.name, group: "", href: address("macro", macro.name), key: `macro.${macro.name}` }))
      : data.nodes.filter((node) => node.kind === kind).map((node) => ({ name: kind === "source" ? node.name.slice((node.group || "").length + 1) || node.name : node.name, group: node.group || "", href: address("node", node.id), key: node.id, node }));
    if (!items.length) continue;
    rows.push({ key: kind, text: `${title} (${count(items.length)})`, level: 1, open: opened.has(kind) });
    if (!opened.has(kind)) continue;
    const groups = new Map();
    for (const item of items) { if (!groups.has(item.group)) groups.set(item.group, []); groups.get(item.group).push(item); }
    for (const name of [...groups.keys()].sort()) {
      const inside = groups.get(name).sort((a, b) => compared(a.name, b.name));
      const key = `${kind}/${name}`;
      if (name) rows.push({ key, text: name, level: 2, open: !opened.has(`-${key}`) });
      if (name && opened.has(`-${key}`)) continue;
      inside.forEach((item, at) => rows.push({ key: item.key, text: item.name, level: name ? 3 : 2, href: item.href, at: at + 1, of: inside.length,
        mark: item.node && item.node.verdict && h("span", { class: `dot verdict-${item.node.verdict}${item.node.scan_full ? " meant" : ""}`, title: item.node.verdict }, VERDICTS[item.node.verdict][0]) }));
    }
  }
  return rows;
}

function toggle(key) {
  const name = key.includes("/") ? `-${key}` : key;
  if (opened.has(name)) opened.delete(name); else opened.add(name);
  tree.set(treeRows());
}

function overview(main) {
  const models = data.nodes.filter((node) => node.kind === "model");
  const merges = models.filter((node) => node.verdict);
  if (!data.nodes.length) { replace(main, h("h1", { tabindex: "-1" }, data.project), emptyState("This project has no models yet", "Put a MERGE into models/ and run merge-runner docs generate again.")); return; }
  const tests = data.nodes.filter((node) => !node.at);
  const tile = (value, label, href) => h(href ? "a" : "div", { class: "tile", href }, h("span", { class: "tile-value" }, count(value)), h("span", { class: "tile-label" }, label));
  const kinds = Object.keys(VERDICTS).flatMap((verdict) => [[verdict, false], [verdict, true]]);
  const verdicts = kinds.map(([verdict, full]) => [verdict, full, merges.filter((node) => node.verdict === verdict && (verdict === "none" && Boolean(node.scan_full)) === full).length]).filter(([, , value]) => value);
  replace(main, h("h1", { tabindex: "-1" }, data.project),
    h("div", { class: "tiles" }, tile(models.length, "models", address("graph")), tile(data.nodes.filter((node) => node.kind === "source").length, "tables of sources"), tile(tests.length, "tests"), tile(data.macros.length, "macros"), tile(data.findings.error + data.findings.warning, "findings of lint")),
    merges.length > 0 && h("section", {}, h("h2", {}, "What each MERGE scans"),
      h("div", { class: "bar", role: "img", "aria-label": verdicts.map(([name, full, value]) => `${value} ${name}${full ? " (scan: full)" : ""}`).join(", ") }, verdicts.map(([name, full, value]) => h("span", { class: `bar-part fill-${name}${full ? "-meant" : ""}`, style: { flex: String(value) } }))),
      h("p", { class: "legend" }, verdicts.map(([name, full, value]) => h("a", { class: "legend-item", href: address("graph", undefined, { select: `verdict:${name}` }) }, verdictMark(name, full), ` ${count(value)}`)))),
    h("h2", {}, "Models"), modelTable(models), sourceTable());
}

const FRESHNESS = ["error", "runtime error", "warn", "pass"];

/** The tables of sources, those that are late first. */
function sourceTable() {
  const late = (number) => (FRESHNESS.includes(data.nodes[number].fresh) ? FRESHNESS.indexOf(data.nodes[number].fresh) : FRESHNESS.length);
  const all = data.nodes.map((node, number) => number).filter((number) => data.nodes[number].kind === "source").sort((a, b) => late(a) - late(b) || a - b);
  if (!all.length) return null;
  const shown = all.slice(0, LISTED);
  return h("section", {}, h("h2", {}, "Sources"), sortedTable("Sources", [
    { label: "Table", value: (number) => data.nodes[number].name, cell: (number) => [link(number), data.nodes[number].about && h("span", { class: "cell-about" }, inlineMarkdown(data.nodes[number].about))] },
    { label: "Freshness", value: late, cell: (number) => statusMark(data.nodes[number].fresh) || h("span", { class: "muted" }, "not checked") },
    { label: "Columns", number: true, value: (number) => (data.nodes[number].columns || []).length, cell: (number) => count((data.nodes[number].columns || []).length) },
    { label: "Read by", number: true, value: (number) => childrenOf[number].length, cell: (number) => count(childrenOf[number].length) },
  ], shown), shown.length < all.length && h("p", { class: "muted" }, `${shown.length} of ${count(all.length)} tables, those that are late first: the list at the left and the search have all.`));
}

const LISTED = 200;

function modelTable(models) {
  const ran = models.some((node) => node.status);
  const shown = models.length > LISTED ? [...models].sort((a, b) => rank(a) - rank(b)).slice(0, LISTED) : models;
  const columns = [
    { label: "Model", value: (node) => node.name, cell: (node) => [h("a", { href: address("node", node.id) }, node.name), node.about && h("span", { class: "cell-about" }, inlineMarkdown(node.about))] },
    { label: "Scan", value: (node) => node.verdict, cell: (node) => verdictMark(node.verdict, node.scan_full) || h("span", { class: "muted" }, node.materialized) },
  ];
  if (ran) columns.push(
    { label: "Last run", value: (node) => node.status, cell: (node) => statusMark(node.status) },
    { label: "Time", number: true, value: (node) => node.seconds, cell: (node) => duration(node.seconds) },
    { label: "Files scanned", number: true, value: (node) => (node.files ? node.files[0] : null), cell: (node) => (node.files ? `${count(node.files[0])} of ${count(node.files[1])}` : "–") });
  columns.push({ label: "Columns", number: true, value: (node) => (node.columns || []).length, cell: (node) => count((node.columns || []).length) });
  return [sortedTable("Models", columns, shown), shown.length < models.length && h("p", { class: "muted" }, `${shown.length} of ${count(models.length)} models, those that scan whole targets first: the list at the left and the search have all.`)];
}

const rank = (node) => (node.verdict === "none" && !node.scan_full ? 0 : node.verdict === "unknown" ? 1 : node.verdict ? 2 : 3);

function graphView(main, query) {
  const asked = query.get("select") || "", by = query.get("colour") in FILLS ? query.get("colour") : "verdict";
  const { numbers, unknown } = select(asked);
  const input = h("input", { type: "text", id: "graph-select", value: asked, placeholder: "+fct_flight+1  tag:nightly  verdict:none", spellcheck: "false", autocomplete: "off" });
  const colours = h("select", { id: "graph-colour", onchange: () => go() }, Object.keys(FILLS).map((each) => h("option", { value: each, selected: each === by }, { verdict: "verdict", status: "last status", time: "time of the last run", files: "files scanned" }[each])));
  const go = () => { location.hash = address("graph", undefined, { select: input.value.trim(), colour: colours.value === "verdict" ? "" : colours.value }); };
  const said = h("p", { class: "graph-said", role: "status" });
  const about = (number) => { const node = data.nodes[number]; replace(said, link(number), " ", verdictMark(node.verdict, node.scan_full), ` reads ${counted(parentsOf(number).length, "node")}, read by ${counted(childrenOf[number].length, "node")}`); };
  replace(main, h("h1", { class: "off-screen", tabindex: "-1" }, "Graph"),
    h("form", { class: "graph-bar", onsubmit: (event) => { event.preventDefault(); go(); } },
      h("label", { for: "graph-select" }, "Select"), input, h("button", { class: "button", type: "submit" }, "Show"),
      h("label", { for: "graph-colour" }, "Colour by"), colours),
    h("p", { class: "legend" }, LEGENDS[by].map(([name, label]) => h("span", { class: "legend-item" }, h("span", { class: "swatch", style: { background: `var(--${name})` } }), label))),
    unknown.length > 0 && h("p", { class: "warning" }, `Nothing is selected by ${unknown.join(", ")}`),
    numbers.length ? dagView(numbers, { fill: FILLS[by], onopen: (each) => { location.hash = address("node", data.nodes[each].id); }, onfocus: about, label: `Graph of ${counted(numbers.length, "node")}. Arrow keys walk along edges, Enter opens, plus and minus zoom; the list below has the same nodes.` }) : emptyState("No nodes", data.nodes.length ? "The selection matches nothing." : "This project has no models yet."),
    said, h("details", { class: "more" }, h("summary", {}, `The ${counted(numbers.length, "node")} as a list`), lazyList(numbers)));
}

function lazyList(numbers) {
  const holder = h("div", {});
  const drawn = new MutationObserver(() => {});
  drawn.disconnect();
  requestAnimationFrame(() => holder.parentElement && holder.parentElement.addEventListener("toggle", () => {
    if (!holder.firstChild) holder.append(sortedTable("Nodes of the graph", [
      { label: "Node", value: (each) => data.nodes[each].name, cell: link },
      { label: "Reads", cell: (each) => parentsOf(each).map((other, at) => [at ? ", " : "", link(other)]) },
      { label: "Read by", cell: (each) => childrenOf[each].map((other, at) => [at ? ", " : "", link(other)]) },
    ], numbers.slice(0, 1000)));
  }));
  return holder;
}

function projectPage() {
  const main = h("main", { id: "main", tabindex: "-1" });
  tree = virtualTree("Nodes of the project", toggle);
  const links = [["", "Overview"], ["graph", "Graph"]].map(([view, label]) => h("a", { href: address(view), "data-nav": view }, label));
  const side = h("nav", { class: "side", "aria-label": "Nodes", id: "side" }, tree.element,
    h("p", { class: "made" }, `${data.target} · ${data.schema}`, h("br"), `made ${when(data.made_at)}`));
  const menu = h("button", { class: "icon-button menu", type: "button", "aria-label": "List of nodes", "aria-expanded": "false", "aria-controls": "side", onclick: () => { const open = document.body.classList.toggle("side-open"); menu.setAttribute("aria-expanded", String(open)); } }, "☰");
  document.body.append(h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); } }, "Skip to the content"),
    h("header", { class: "top" }, menu, h("a", { class: "brand", href: "#/", "aria-label": data.project }, h("span", { class: "brand-mark", "aria-hidden": "true" }, "⋈"), h("span", { class: "brand-name" }, data.project)), searchBox(), h("nav", { class: "links", "aria-label": "Views" }, links), themeButton()),
    h("div", { class: "body" }, side, main));
  tree.set(treeRows());
  async function show() {
    const { view, name, query } = currentAddress();
    document.body.classList.remove("side-open");
    menu.setAttribute("aria-expanded", "false");
    main.classList.toggle("wide", view === "graph");
    links.forEach((each) => { if (each.dataset.nav === view) each.setAttribute("aria-current", "page"); else each.removeAttribute("aria-current"); });
    const focus = keepFocus;
    keepFocus = false;
    if (view === "node") await nodeView(main, name, query);
    else if (view === "macro") macroView(main, name);
    else if (view === "graph") graphView(main, query);
    else overview(main);
    const title = main.querySelector("h1");
    document.title = `${title && view ? `${title.textContent} · ` : ""}${data.project} · merge-runner`;
    tree.mark(view === "macro" ? `macro.${name}` : view === "node" ? name : null);
    if (focus) { const tab = main.querySelector('[role="tab"][aria-selected="true"]'); if (tab) tab.focus(); }
    else { main.scrollTop = 0; if (shownBefore && title) title.focus({ preventScroll: true }); }
    shownBefore = true;
    document.documentElement.dataset.shown = location.hash || "#/";
  }
  let shownBefore = false;
  addEventListener("hashchange", show);
  show();
}

if (document.documentElement.dataset.view === "project") projectPage();
