// dbt's selection syntax over the nodes of the page: +name+2, @name, tag:, path:, source:, config.materialized:, …

const drawnNodes = data.nodes.map((node, number) => number).filter((number) => data.nodes[number].at);
const childrenOf = data.nodes.map(() => []);
const withTests = data.nodes.map(() => []);  // children, tests among them: `@` counts what they read
data.nodes.forEach((node, number) => { for (const parent of parentsOf(number)) withTests[parent].push(number); });
drawnNodes.forEach((number) => { for (const parent of parentsOf(number)) childrenOf[parent].push(number); });

function parentsOf(number) { return data.nodes[number].parents || []; }

const METHODS = {
  tag: (node, value) => (node.tags || []).some((tag) => like(tag, value)),
  path: (node, value) => node.path === value || node.path.startsWith(value.replace(/\/?$/, "/")) || like(node.path, value),
  source: (node, value) => node.kind === "source" && (like(node.name, value) || like(node.group, value)),
  exposure: (node, value) => node.kind === "exposure" && like(node.name, value),
  resource_type: (node, value) => node.kind === value,
  verdict: (node, value) => node.verdict === value,
  status: (node, value) => node.status === value.replace("_", " "),
  result: (node, value) => node.status === value.replace("_", " "),
  fqn: (node, value) => named(node, value),
  file: (node, value) => like(node.path.split("/").pop(), value) || like(node.path.split("/").pop().replace(/\.\w+$/, ""), value),
  "config.materialized": (node, value) => node.materialized === value,
  "config.format": (node, value) => node.format === value,
};

function like(text, pattern) {
  if (!/[*?]/.test(pattern)) return text === pattern;
  return new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")}$`).test(text);
}

const named = (node, value) => like(node.name, value) || like(node.name.split(".").pop(), value)
  || node.id.split(".").slice(1).join(".") === value || (node.group || "").split("/").includes(value);

/** The numbers of the nodes that a selection means, and what of it means none. */
function select(text) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const unknown = [];
  if (!words.length) return { numbers: drawnNodes, unknown };
  const all = new Set();
  for (const word of words) {
    let both = null;
    for (const part of word.split(",")) {
      const found = selectedBy(part);
      if (found === null || !found.size) unknown.push(part);
      both = both === null ? found || new Set() : new Set([...both].filter((each) => found && found.has(each)));
    }
    for (const each of both || []) all.add(each);
  }
  return { numbers: drawnNodes.filter((each) => all.has(each)), unknown };
}

function selectedBy(part) {
  const match = /^(@)?(?:(\d*)(\+))?(.*?)(?:(\+)(\d*))?$/.exec(part);
  const [, at, up, plusUp, body, plusDown, down] = match;
  const colon = body.indexOf(":");
  const method = colon > 0 ? METHODS[body.slice(0, colon)] : METHODS.fqn;
  if (!method || !body) return null;
  const value = colon > 0 ? body.slice(colon + 1) : body;
  const start = drawnNodes.filter((number) => method(data.nodes[number], value));
  const found = new Set(start);
  if (at) for (const each of reached(reached(start, withTests, Infinity), null, Infinity)) found.add(each);
  if (plusUp) for (const each of reached(start, null, up ? Number(up) : Infinity)) found.add(each);
  if (plusDown) for (const each of reached(start, childrenOf, down ? Number(down) : Infinity)) found.add(each);
  return found;
}

/** Nodes within some steps: by `children`, or up where that is null. */
function reached(start, children, steps) {
  const found = new Set(start);
  let border = [...start];
  for (let step = 0; border.length && step < steps; step += 1) {
    const next = [];
    for (const each of border) for (const other of children ? children[each] : parentsOf(each)) if (!found.has(other)) { found.add(other); next.push(other); }
    border = next;
  }
  return found;
}
