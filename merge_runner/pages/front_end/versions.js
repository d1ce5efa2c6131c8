// The versions of tables: what each commit did, and who has written it.

/** `commits` are {node, name, ...} of a record; `own` is the run whose page this is, where it is of one. */
function versionTable(label, commits, own) {
  const several = new Set(commits.map((each) => each.table)).size > 1 || own;
  return sortedTable(label, [
    several && { label: "Table", value: (each) => each.name, cell: (each) => h("a", { href: address("node", each.table) }, each.name) },
    { label: "Committed", value: (each) => each.at, cell: (each) => h("span", { class: "whole" }, when(each.at)) },
    { label: "Version", value: (each) => each.version, cell: (each) => h("code", {}, each.version) },
    { label: "Operation", value: (each) => each.operation, cell: (each) => h("code", {}, each.operation) },
    { label: "Written by", value: (each) => each.run, cell: (each) => writer(each, own) },
    { label: "Rows", cell: (each) => Object.entries(each.rows || {}).filter(([, value]) => value).map(([kind, value]) => `${count(value)} ${kind}`).join(", ") || "–" },
    { label: "Files", value: (each) => each.files_added, cell: (each) => h("span", { class: "whole" }, change(each.files_added, each.files_removed, count)) },
    { label: "Bytes", value: (each) => each.bytes_added, cell: (each) => change(each.bytes_added, each.bytes_removed, bytes) },
  ].filter(Boolean), commits);
}

const change = (added, removed, written) => [added ? `+${written(added)}` : null, removed ? `−${written(removed)}` : null].filter(Boolean).join(" ") || "–";

function writer(commit, own) {
  if (!commit.run) return h("span", { class: "mark status-warn" }, h("span", { "aria-hidden": "true" }, "!"), " another writer");
  const known = data.runs.find((run) => run.id === commit.run);
  const what = [commit.of && ` (${commit.of.replace(/_/g, " ")})`, commit.node !== commit.table && ` for ${commit.node.split(".").slice(2).join(".")}`];
  if (own === commit.run) return ["this run", what];
  return known ? [h("a", { href: address("run", known.id) }, `${known.command} of ${when(known.started_at)}`), what] : ["an earlier run", what];
}

/** The commits that a run has read, each with its table's node. */
const commitsOf = (run) => run.nodes.flatMap((node) => (node.versions || []).map((each) => ({ ...each, table: node.id, name: node.name })));

function versionsTab(panel, run) {
  const commits = commitsOf(run), others = commits.filter((each) => !each.run).length;
  append(panel, [
    h("p", { class: "muted" }, "The commits of each table since the run before, newest first: those of this run, and whatever else has written to it."),
    others > 0 && h("p", {}, h("strong", {}, `${counted(others, "commit")} by another writer.`)),
    versionTable("Versions of tables", commits, run.id),
    cutNote(run.nodes.filter((node) => node.versions_cut).map((node) => node.name))]);
}

const cutNote = (names) => names.length > 0 && h("p", { class: "muted" }, `There may be older commits, which no run has read: ${names.join(", ")}.`);

/** All commits of a node's table that the kept runs have read; records are unpacked one after the other. */
async function versionsOf(id) {
  const found = new Map();
  let cut = false;
  for (let at = 0; at < data.runs.length; at += 1) {
    if (!(data.history[id] || [])[at]) continue;
    const node = (await chunk(at)).nodes.find((each) => each.id === id);
    for (const each of node.versions || []) found.set(`${each.version} ${each.at}`, { ...each, table: id, name: node.name });
    cut = cut || Boolean(node.versions_cut);
  }
  return { commits: [...found.values()], cut };
}
