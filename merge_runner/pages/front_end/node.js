// The page of a node, and that of a macro.

const KIND_NAMES = { model: "model", source: "source", seed: "seed", test: "data test", unit_test: "unit test", exposure: "exposure", analysis: "analysis" };

function link(number) {
  const node = data.nodes[number];
  return h("a", { href: address("node", node.id) }, node.name);
}

function linkList(numbers, none) {
  if (!numbers.length) return h("p", { class: "muted" }, none);
  return h("ul", { class: "plain" }, numbers.map((each) => h("li", {}, link(each), " ", h("span", { class: "muted" }, KIND_NAMES[data.nodes[each].kind]), " ", verdictMark(data.nodes[each].verdict, data.nodes[each].scan_full))));
}

async function nodeView(main, name, query) {
  const number = data.nodes.findIndex((each) => each.id === name || each.name === name);
  if (number < 0) { missing(main, "There is no such node", name); return; }
  const node = data.nodes[number];
  const detail = await detailOf(number);
  const children = childrenOf[number] || [];
  const go = (changes) => { location.hash = address("node", node.id, { ...Object.fromEntries(query), ...changes }); };
  const goTab = (tab) => { keepFocus = true; location.hash = address("node", node.id, { tab }); };
  const facts = [
    ["Kind", [KIND_NAMES[node.kind], node.materialized && ` · ${node.materialized}`, node.format && ` · ${node.format}`]],
    node.relation && ["Relation", h("code", {}, node.relation)],
    detail.config?.batch_size && ["Batches", `each ${detail.config.batch_size} from ${detail.config.begin}`],
    ["File", h("code", {}, node.path)],
    node.tags && ["Tags", node.tags.map((each) => [h("a", { class: "tag", href: address("graph", undefined, { select: `tag:${each}` }) }, each), " "])],
  ].filter(Boolean);
  replace(main,
    h("div", { class: "title" }, h("h1", { tabindex: "-1" }, node.name), verdictMark(node.verdict, node.scan_full), statusMark(node.status), node.fresh && statusMark(node.fresh)),
    h("dl", { class: "facts" }, facts.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value)))),
    detail.description && h("div", { class: "description" }, markdown(detail.description)));
  const list = [["about", "About", (panel) => aboutTab(panel, number, detail, children)]];
  if (detail.proof || (detail.findings || []).length) list.push(["scan", "Scan", (panel) => scanTab(panel, detail)]);
  if (detail.author || detail.compiled || detail.not_compiled) list.push(["code", "Code", (panel) => codeTab(panel, detail, query.get("text"), go)]);
  if (!["test", "unit_test", "exposure", "analysis"].includes(node.kind)) list.push(["lineage", "Column lineage", (panel) => lineageTab(panel, number, detail, query.get("column"), go)]);
  if ((detail.tests || []).length) list.push(["tests", `Tests (${detail.tests.length})`, (panel) => testsTab(panel, detail)]);
  list.push(["config", "Config", (panel) => configTab(panel, detail)]);
  append(main, tabs(node.name, list, query.get("tab"), goTab));
}

function aboutTab(panel, number, detail, children) {
  const node = data.nodes[number];
  if (node.at) {
    const close = [...new Set([...parentsOf(number), number, ...children])].filter((each) => data.nodes[each].at);
    const shown = close.length > 60 ? close.slice(0, 60) : close;
    if (close.length > 1) {
      const frame = dagView(shown.includes(number) ? shown : [number, ...shown], { fill: FILLS.verdict, focus: number, onopen: (each) => { location.hash = address("node", data.nodes[each].id); }, label: `What ${node.name} reads, and what reads it; listed below.` });
      frame.classList.add("small");
      append(panel, [frame, h("p", { class: "field" }, h("a", { href: address("graph", undefined, { select: `+${node.name.split(".").pop()}+` }) }, "All of its upstream and downstream in the graph"))]);
    }
  }
  if (detail.columns) {
    panel.append(h("h2", {}, "Columns"), sortedTable("Columns", [
      { label: "Column", value: (each) => each.name, cell: (each) => node.kind === "test" ? each.name : h("a", { href: address("node", node.id, { tab: "lineage", column: each.name }) }, each.name) },
      { label: "Type", value: (each) => each.type, cell: (each) => [h("code", {}, each.type || "–"), each.not_null && h("span", { class: "tag quiet" }, "not null"), each.generated && h("span", { class: "tag quiet" }, "generated")] },
      { label: "Description", cell: (each) => inlineMarkdown(each.about || "") },
      { label: "Tests", cell: (each) => (each.tests || []).map((test) => [testMark(test), " "]) },
    ], detail.columns));
  }
  if (detail.source) panel.append(h("h2", {}, "What it reads"), h("p", {}, detail.source.reads ? h("code", {}, detail.source.reads) : "a table", detail.source.format && ` (${detail.source.format})`));
  if (detail.exposure) panel.append(h("h2", {}, "Outside of the project"), factsOf({ ...detail.exposure, url: outside(detail.exposure.url) }));
  if (detail.freshness) panel.append(h("h2", {}, "Freshness"), factsOf({ status: detail.freshness.status, newest_row: detail.freshness.max_loaded_at, checked: detail.freshness.snapshotted_at, age: duration(detail.freshness.max_loaded_at_time_ago_in_s) }));
  if (detail.unit) panel.append(h("h2", {}, "Given and expected rows"), codeBlock(JSON.stringify({ given: detail.unit.given, expect: detail.unit.expect }, null, 2), "Rows of the unit test"));
  if (detail.older_rows) panel.append(h("h2", {}, "Rows of an older text"), h("p", {}, detail.older_rows));
  if (detail.last) panel.append(h("h2", {}, "Last result"), lastResult(detail.last));
  if (detail.last_work) panel.append(h("h2", {}, "Last run that did something"), lastResult(detail.last_work));
  const ran = detail.last && detail.last.batches ? detail.last : detail.last_work;
  if (ran && ran.batches) append(panel, [h("h2", {}, "Batches of the last run"), batchesTogether(node.name, ran.batch_size, ran.batches.map((batch) => ({ ...batch, at: ran.at })), false)]);
  panel.append(h("div", { class: "columns-two" },
    h("section", {}, h("h2", {}, "Upstream"), linkList(parentsOf(number), "It reads no other node.")),
    node.at && h("section", {}, h("h2", {}, "Downstream"), linkList(children, "No model reads it.")),
    detail.macros && h("section", {}, h("h2", {}, "Macros"), h("ul", { class: "plain" }, detail.macros.map((each) => h("li", {}, h("a", { href: address("macro", each) }, each)))))));
}

function testMark(number) {
  const node = data.nodes[number];
  return h("a", { class: `tag${node.status ? ` status-${dashed(node.status)}` : ""}`, href: address("node", node.id), title: node.status || "not run yet" },
    node.status && h("span", { "aria-hidden": "true" }, `${STATUSES[node.status] || "·"} `), testName(node), node.status && h("span", { class: "off-screen" }, ` ${node.status}`));
}

const testName = (node) => (node.kind === "test" ? (/^test\.[^.]+\.(not_null|unique|accepted_values|relationships)_/.exec(node.id) || [])[1] || node.name : node.name);

function lastResult(last) {
  const figures = last.response || {};
  const rows = ["inserted", "updated", "deleted", "copied"].filter((each) => figures[`rows_${each}`] !== undefined && figures[`rows_${each}`] !== null).map((each) => `${count(figures[`rows_${each}`])} ${each}`).join(", ");
  return factsOf({
    status: statusMark(last.status), run: when(last.at), time: duration(last.seconds), rows: rows || null, message: last.message,
    files_scanned: figures.files_total === undefined || figures.files_total === null ? null : `${count(figures.files_scanned)} of ${count(figures.files_total)}`,
    failing_rows: last.failures || null,
  });
}

function factsOf(values) {
  return h("dl", { class: "facts" }, Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "").map(([term, value]) =>
    h("div", {}, h("dt", {}, term.replace(/_/g, " ")), h("dd", {}, value instanceof Node ? value : String(value)))));
}

function scanTab(panel, detail) {
  const proof = detail.proof;
  if (proof) {
    append(panel, [
      h("p", { class: "verdict-line" }, verdictMark(proof.verdict, proof.scan === "full"), " ", proof.reason),
      proof.scan === "full" && h("p", { class: "muted" }, "The model says scan: full: reading all of the target is meant.")]);
    if (proof.conjuncts.length) {
      panel.append(h("h2", {}, "Conditions of ON"), h("ul", { class: "conjuncts" }, proof.conjuncts.map((each) => h("li", { class: each.prunes ? "prunes" : each.prunes === null ? "maybe" : "reads-all" },
        h("div", { class: "conjunct-head" }, h("span", { class: `mark verdict-${each.prunes ? "static" : each.prunes === null ? "unknown" : "none"}` }, h("span", { "aria-hidden": "true" }, each.prunes ? "✓" : each.prunes === null ? "?" : "✗"), each.prunes ? " prunes" : each.prunes === null ? " not known" : " does not prune"),
          h("span", { class: "muted" }, `line ${each.line}, column ${each.column}`)),
        h("pre", {}, h("code", {}, highlighted(each.text))), h("p", {}, each.reason)))));
    }
    panel.append(h("h2", {}, "Clauses"), h("ul", { class: "plain" }, proof.clauses.map((each) => h("li", {}, h("code", {}, `when ${each.kind.replace(/_/g, " ")}${each.conditional ? " and …" : ""} then ${each.action}`)))));
    panel.append(factsOf({ target: proof.target, format: proof.format || "unknown", class: proof.class, schema_evolution: proof.evolves ? "yes" : null }));
  }
  if (detail.findings) panel.append(h("h2", {}, "Findings of lint"), h("ul", { class: "findings" }, detail.findings.map((each) => h("li", { class: each.severity }, h("p", {}, h("strong", {}, `${each.severity} ${each.code} ${each.name}`), " ", each.message), each.hint && h("p", { class: "muted" }, each.hint), h("p", {}, h("code", {}, each.place))))));
}

function codeTab(panel, detail, chosen, go) {
  const texts = [["author", "As written", detail.author], ["compiled", "Compiled", detail.compiled], ["ran", "As it ran", detail.ran]].filter(([, , text]) => text);
  if (detail.not_compiled) panel.append(h("div", { class: "empty" }, h("p", { class: "empty-title" }, "It cannot be compiled"), detail.not_compiled.map((each) => h("p", {}, each))));
  if (!texts.length) return;
  const shown = texts.find(([key]) => key === chosen) || texts[texts.length > 1 ? 1 : 0];
  const key = { compiled: [h("span", { class: "from-jinja" }, "Underlined"), " text was produced by Jinja."], ran: [h("mark", { class: "from-runner" }, "Marked"), " text was put in by merge-runner in the last run: runtime filters, pinned versions."] }[shown[0]];
  append(panel, [
    h("div", { class: "segments", role: "group", "aria-label": "Which text" }, texts.map(([each, label]) => h("button", { type: "button", "aria-pressed": String(each === shown[0]), onclick: () => go({ tab: "code", text: each }) }, label))),
    key && h("p", { class: "muted" }, key),
    codeBlock(shown[2], `${shown[1]}, SQL`),
  ]);
}

function testsTab(panel, detail) {
  panel.append(sortedTable("Tests", [
    { label: "Test", value: (each) => data.nodes[each].name, cell: link },
    { label: "Kind", value: (each) => data.nodes[each].kind, cell: (each) => KIND_NAMES[data.nodes[each].kind] },
    { label: "Last result", value: (each) => data.nodes[each].status, cell: (each) => statusMark(data.nodes[each].status) || h("span", { class: "muted" }, "not run yet") },
    { label: "Time", number: true, value: (each) => data.nodes[each].seconds, cell: (each) => duration(data.nodes[each].seconds) },
  ], detail.tests));
}

function configTab(panel, detail) {
  if (detail.layout) panel.append(h("h2", {}, "Layout of the table"), factsOf({ ...Object.fromEntries(Object.entries(detail.layout).filter(([key]) => key !== "properties").map(([key, value]) => [key, Array.isArray(value) ? value.map((each) => (Array.isArray(each) ? each.join(", ") : each)).join(" · ") || "none" : key === "bytes" ? bytes(value) : String(value)])) }));
  if (detail.layout && detail.layout.properties) panel.append(h("h2", {}, "Table properties"), factsOf(detail.layout.properties));
  if (detail.config) panel.append(h("h2", {}, "Config"), codeBlock(JSON.stringify(detail.config, null, 2), "Config as JSON"));
  if (detail.meta) panel.append(h("h2", {}, "Meta"), codeBlock(JSON.stringify(detail.meta, null, 2), "Meta as JSON"));
  if (!detail.config && !detail.layout) panel.append(emptyState("Nothing is configured"));
}

function macroView(main, name) {
  const macro = data.macros.find((each) => each.name === name);
  if (!macro) { missing(main, "There is no such macro", name); return; }
  replace(main, h("div", { class: "title" }, h("h1", { tabindex: "-1" }, macro.name), h("span", { class: "mark" }, "macro")),
    h("dl", { class: "facts" }, h("div", {}, h("dt", {}, "File"), h("dd", {}, h("code", {}, macro.path)))),
    macro.about && h("div", { class: "description" }, markdown(macro.about)), codeBlock(macro.sql, "The macro's text"),
    h("div", { class: "columns-two" }, h("section", {}, h("h2", {}, "Used by"), linkList(macro.used_by, "No node calls it itself.")),
      macro.calls.length > 0 && h("section", {}, h("h2", {}, "Calls"), h("ul", { class: "plain" }, macro.calls.map((each) => h("li", {}, h("a", { href: address("macro", each) }, each)))))));
}
