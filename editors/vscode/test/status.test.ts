import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine } from "../src/command";
import { statusOf, type Verdict } from "../src/status";

const shown: [(Verdict | "meant")[], string | undefined, boolean][] = [
  [[], undefined, false],
  [["static"], "$(check) MERGE: static", false],
  [["runtime"], "$(check) MERGE: runtime", false],
  [["none"], "$(warning) MERGE: full scan", true],
  [["unknown"], "$(question) MERGE: unknown", false],
  [["static", "none", "unknown", "none"], "$(warning) MERGE: full scan (2 of 4)", true],
  [["meant"], "$(check) MERGE: full scan", false],
  [["meant", "none"], "$(warning) MERGE: full scan (1 of 2)", true],
  [["static", "runtime"], "$(check) MERGE: runtime (1 of 2)", false],
];

for (const [verdicts, text, warns] of shown) {
  test(`the status of ${verdicts.join(", ") || "no MERGE"}`, () => {
    const merges = verdicts.map((each, line) => ({ verdict: each === "meant" ? "none" : each, meant: each === "meant", line, target: "shop.orders" }));
    const status = statusOf(merges);
    assert.equal(status?.text, text);
    assert.equal(status?.warns ?? false, warns);
    assert.equal(status?.tooltip.split("\n").length ?? 0, verdicts.length);
  });
}

test("the tooltip names line, target and meaning", () => {
  const tooltip = statusOf([{ verdict: "none", meant: false, line: 6, target: "shop.orders" }])?.tooltip;
  assert.equal(tooltip, "Line 7, shop.orders: none (the whole target is scanned)");
});

test("a model is selected by the name of its file, lint is given the file", () => {
  const server = { command: "/e n v/python", arguments: ["-m", "merge_runner"], origin: "" };
  const line = (action: "lint" | "build") => commandLine(server, action, "/shop/models/a b/orders.sql", "/shop");
  assert.deepEqual(line("lint"), { command: "/e n v/python", arguments: ["-m", "merge_runner", "lint", "models/a b/orders.sql"], folder: "/shop" });
  assert.deepEqual(line("build").arguments, ["-m", "merge_runner", "build", "--select", "orders"]);
});
