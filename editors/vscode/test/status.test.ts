import assert from "node:assert/strict";
import { test } from "node:test";
import { asking, commandLine } from "../src/command";
import { statusOf } from "../src/status";

const shown: [string, string | undefined, boolean][] = [
  ["scan: static", "$(check) MERGE: static", false],
  ["scan: runtime", "$(check) MERGE: runtime", false],
  ["scan: unknown", "$(question) MERGE: unknown", false],
  ["scan: none", "$(warning) MERGE: full scan", true],
  ["scan: none (meant)", "$(check) MERGE: full scan", false],
  ["order_id, amount", undefined, false],
  ["scan: other", undefined, false],
];

for (const [label, text, warns] of shown) {
  test(`the status for the hint ${label}`, () => {
    const status = statusOf([{ label: "id, amount" }, { label, tooltip: { value: "**proof**" } }]);
    assert.deepEqual(status, text === undefined ? undefined : { text, markdown: "**proof**", warns });
    assert.deepEqual(statusOf([{ label: [{ value: label }], tooltip: "**proof**" }]), status);
  });
}

test("a model is selected by the name of its file, lint is given the file", () => {
  const server = { command: "/e n v/python", arguments: ["-m", "merge_runner"], origin: "" };
  const line = (action: "lint" | "build") => commandLine(server, asking(action, "/shop/models/a b/orders.sql", "/shop"));
  assert.deepEqual(line("lint"), { command: "/e n v/python", arguments: ["-m", "merge_runner", "lint", "models/a b/orders.sql"], folder: "/shop" });
  assert.deepEqual(line("build").arguments, ["-m", "merge_runner", "build", "--select", "orders"]);
});
