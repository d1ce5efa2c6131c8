// The real server, as the extension finds and starts it.
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { asking, commandLine } from "../src/command";
import { type Candidate, candidates, choose, question, stateOf } from "../src/interpreter";
import { run } from "../src/program";
import { statusOf } from "../src/status";
import { makeProject, PYTHON, Server } from "./server";

let root: string;
let server: Server;
let chosen: Candidate;

before(async () => {
  root = makeProject();
  const around = { setting: PYTHON, selected: undefined, folder: root, home: "/", platform: process.platform };
  const choice = await choose(candidates(around), async (candidate) => {
    const { status, output } = await run(candidate.command, question(candidate), root);
    return stateOf(candidate, status, output);
  });
  assert.ok(choice.server, choice.problem);
  chosen = choice.server;
  server = new Server(chosen.command, [...chosen.arguments, "lsp"], root);
  await server.initialize();
});

after(async () => {
  const status = await server.stop();
  rmSync(root, { recursive: true });
  assert.equal(status, 0, server.errors);
});

test("what is wrong in an unsaved text is found at its place", async () => {
  const saved = readFileSync(join(root, "models/orders.sql"), "utf8");
  const asSaved = await server.findings(await server.edit("models/orders.sql", saved));
  assert.ok(asSaved.includes("K001 3:7"), asSaved.join());
  const changed = saved.replace("= s.order_id", "= s.order_id and '😀' = t.nothing");
  const found = await server.findings(await server.edit("models/orders.sql", changed));
  assert.ok(found.includes("C009 3:42"), found.join()); // in units of UTF-16, as VS Code counts
});

test("the verdict of a MERGE is among the hints", async () => {
  const saved = readFileSync(join(root, "models/orders.sql"), "utf8");
  const shown = async (text: string) => statusOf(await server.hints(await server.edit("models/orders.sql", text)));
  assert.equal((await shown(saved))?.text, "$(warning) MERGE: full scan");
  assert.equal((await shown(saved.replace("order_id\n", "order_id and t.order_date = s.order_date\n")))?.text, "$(check) MERGE: runtime");
  assert.match((await shown(saved))?.markdown ?? "", /order_id/);
});

test("lint runs with the same program", async () => {
  const line = commandLine(chosen, asking("lint", join(root, "models/orders.sql"), root));
  const { status, output } = await run(line.command, line.arguments, line.folder);
  assert.equal(status, 1);
  assert.match(output, /K001/);
});

test("views have the text of the server, and lead to the source", async () => {
  const saved = readFileSync(join(root, "models/orders.sql"), "utf8");
  const uri = await server.edit("models/orders.sql", saved.replace("= s.order_id", "= s.order_id and '😀' = 'x'"));
  const compiled = await server.view("compiled", uri, { line: 0, character: 0 });
  assert.match(compiled?.text ?? "", /merge into shop\.orders as t/);
  const lines = compiled?.text.split("\n") ?? [];
  const tag = compiled?.links.find((link) => !link.isCopy);
  assert.equal(lines[tag?.range.start.line ?? 0]?.slice(tag?.range.start.character, tag?.range.end.character), "shop.orders");
  assert.deepEqual(tag?.location, { uri, range: { start: { line: 1, character: 11 }, end: { line: 1, character: 21 } } });
  const lineage = await server.view("lineage", uri, { line: 0, character: 0 });
  assert.match(lineage?.text ?? "", /^orders \(merge\)\n  reads stg_orders \(view\)/);
});

interface Snippet {
  body: string[];
}

const snippets = (language: string) => Object.entries<Snippet>(JSON.parse(readFileSync(`snippets/${language}.json`, "utf8")));

/** Return the text of a snippet with what its placeholders have. */
const expand = ({ body }: Snippet) => body.join("\n").replace(/\$\{\d+[:|]([^,|}]*)[^}]*\}/g, "$1").replace(/\$\d/g, "");

for (const [name, snippet] of snippets("sql").filter(([, { body }]) => body.join().includes("merge into"))) {
  test(`the snippet "${name}" has no finding`, async () => {
    const uri = await server.edit("models/orders.sql", expand(snippet));
    assert.deepEqual(await server.findings(uri, [1, 2]), []);
  });
}

for (const [name, snippet] of snippets("yaml")) {
  test(`the snippet "${name}" is read`, async () => {
    writeFileSync(join(root, "models/snippet.yml"), expand(snippet).replace("name: raw", "name: other"));
    const { status, errors } = await run(chosen.command, [...chosen.arguments, "parse"], root);
    assert.equal(status, 0, errors);
  });
}
