// Column lineage of one column: what it comes from and goes to, each a click away; a trace follows it further.

const DIRECT = new Set(["identity", "transformation", "aggregation"]);

const detailOf = async (number) => (await chunk(Math.floor(number / data.chunk)))[number % data.chunk];

function columnName(node, column) {
  const name = typeof node === "number" ? data.nodes[node].name : node;
  return [h("span", { class: "column-node" }, name), h("span", { class: "column-name" }, column === "*" ? "every column" : column)];
}

function columnCard(node, column, subtypes) {
  const label = [columnName(node, column), subtypeMarks(subtypes)];
  if (typeof node !== "number") return h("div", { class: "column-card" }, label);
  return h("a", { class: "column-card", href: columnAddress(node, column) }, label);
}

const subtypeMarks = (subtypes) => subtypes.map((each) => h("span", { class: `subtype${DIRECT.has(each) ? " direct" : ""}` }, each.replace("_", " ")));

/** One card for each node, with its columns. */
function nodeCards(inputs) {
  const found = new Map();
  for (const [node, column, subtypes] of cards(inputs)) {
    if (!found.has(node)) found.set(node, []);
    found.get(node).push([column, subtypes]);
  }
  return h("ul", { class: "cards" }, [...found].map(([node, columns]) => h("li", {}, h("div", { class: "column-card" },
    h("span", { class: "column-node" }, typeof node === "number" ? data.nodes[node].name : node),
    h("ul", { class: "plain" }, columns.map(([column, subtypes]) => h("li", {}, columnLink(node, column), subtypeMarks(subtypes))))))));
}

function columnLink(node, column) {
  const text = column === "*" ? "every column" : column;
  return typeof node === "number" ? h("a", { class: "column-name", href: columnAddress(node, column) }, text) : h("span", { class: "column-name" }, text);
}

const columnAddress = (node, column) => address("node", data.nodes[node].id, { tab: "lineage", column: column === "*" ? "" : column });

/** One card for each column, with all that it does. */
function cards(inputs) {
  const found = new Map();
  for (const [node, column, subtype] of inputs) {
    const key = `${node}\n${column}`;
    if (!found.has(key)) found.set(key, [node, column, []]);
    if (!found.get(key)[2].includes(subtype)) found.get(key)[2].push(subtype);
  }
  return [...found.values()];
}

function lineageTab(panel, number, detail, column, go) {
  const lineage = detail.lineage || {};
  const names = [...new Set([...(detail.columns || []).map((each) => each.name), ...Object.keys(lineage.columns || {})])];
  if (!names.length) { panel.append(emptyState("No column is known", "Declare columns in YAML, or build the model: then its lineage is here.")); return; }
  const chosen = names.find((each) => each.toLowerCase() === (column || "").toLowerCase()) || names[0];
  const picker = h("select", { id: "lineage-column", onchange: (event) => go({ tab: "lineage", column: event.target.value }) },
    names.map((each) => h("option", { value: each, selected: each === chosen }, each)));
  const inputs = (lineage.columns || {})[chosen] || [];
  const direct = inputs.filter(([, , subtype]) => DIRECT.has(subtype)), decides = inputs.filter(([, , subtype]) => !DIRECT.has(subtype));
  const readers = (lineage.readers || {})[chosen.toLowerCase()] || [];
  const made = readers.filter(([, , subtype]) => DIRECT.has(subtype)), decided = readers.filter(([, , subtype]) => !DIRECT.has(subtype));
  const side = (title, list, none) => h("section", {}, h("h2", { class: "small" }, title), list.length ? nodeCards(list) : h("p", { class: "muted" }, none));
  const traced = h("div", { class: "traced", "aria-live": "polite" });
  const isModel = data.nodes[number].kind === "model";
  append(panel, [
    h("p", { class: "field" }, h("label", { for: "lineage-column" }, "Column "), picker,
      h("button", { type: "button", class: "button", onclick: () => trace(traced, number, chosen, "up") }, "Trace to its origins"),
      h("button", { type: "button", class: "button", onclick: () => trace(traced, number, chosen, "down") }, "Trace to where it ends")),
    h("div", { class: "lineage" },
      side("Comes from", direct, isModel ? "No column: a constant, or nothing writes it." : "It is where lineage begins."),
      h("section", { class: "lineage-middle" }, h("h2", { class: "small" }, "Column"), h("div", { class: "column-card chosen" }, columnName(number, chosen))),
      side("Goes to", made, "No column of a model is made of it.")),
    traced,
    decides.length > 0 && side("Decides about its value", decides, ""),
    (lineage.rows || []).length > 0 && h("details", { class: "more" }, h("summary", {}, `Decides which rows there are (${cards(lineage.rows).length})`), h("ul", { class: "cards" }, cards(lineage.rows).map((each) => h("li", {}, columnCard(...each))))),
    decided.length > 0 && h("details", { class: "more" }, h("summary", {}, `It decides about (${cards(decided).length})`), h("ul", { class: "cards" }, cards(decided).map((each) => h("li", {}, columnCard(...each))))),
    (lineage.gaps || []).length > 0 && h("details", { class: "more" }, h("summary", {}, `What could not be resolved (${lineage.gaps.length})`),
      h("ul", {}, lineage.gaps.map((each) => h("li", {}, each.column ? h("code", {}, each.column) : null, each.column ? ": " : "", each.reason, each.place && h("span", { class: "muted" }, ` ${each.place}`))))),
  ]);
}

const MOST_TRACED = 400;

/** Walk what values are made of, in one direction, and list it by its distance. */
async function trace(into, number, column, direction) {
  replace(into, h("p", { class: "muted" }, "Tracing …"));
  const seen = new Set([`${number}\n${column.toLowerCase()}`]);
  let border = [[number, column]];
  const levels = [];
  while (border.length && seen.size < MOST_TRACED) {
    const next = [];
    for (const [at, name] of border) {
      const lineage = (await detailOf(at)).lineage || {};
      const columns = lineage.columns || {};
      const own = Object.keys(columns).find((each) => each.toLowerCase() === name.toLowerCase());
      const edges = direction === "up" ? columns[own] || [] : (lineage.readers || {})[name.toLowerCase()] || [];
      for (const [node, other, subtype] of edges) {
        const key = `${node}\n${other.toLowerCase()}`;
        if (!DIRECT.has(subtype) || seen.has(key)) continue;
        seen.add(key);
        next.push([node, other, subtype]);
      }
    }
    if (next.length) levels.push(next);
    border = next.filter(([node]) => typeof node === "number");
  }
  replace(into, h("h2", { class: "small" }, direction === "up" ? "All that it is made of" : "All that is made of it"),
    levels.length ? h("ol", { class: "trace" }, levels.map((level, step) => h("li", {}, h("span", { class: "muted" }, counted(step + 1, "step")), h("ul", { class: "cards" }, cards(level).map((each) => h("li", {}, columnCard(...each)))))))
      : h("p", { class: "muted" }, "Nothing further."),
    seen.size >= MOST_TRACED && h("p", { class: "muted" }, `The first ${MOST_TRACED} columns: merge-runner lineage lists all.`));
}
