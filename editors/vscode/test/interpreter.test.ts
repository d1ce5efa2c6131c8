import assert from "node:assert/strict";
import { test } from "node:test";
import { type Candidate, candidates, choose, type State, stateOf } from "../src/interpreter";

const around = { setting: "", selected: undefined, folder: "/shop", home: "/home/me", platform: "linux" as const };
const commands = (given: Partial<Parameters<typeof candidates>[0]>) => candidates({ ...around, ...given }).map((each) => each.command);

test("the interpreter of the Python extension comes before environments of the workspace and PATH", () => {
  const all = ["/envs/a/python", "/shop/.venv/bin/python", "/shop/venv/bin/python", "merge-runner", "python3", "python"];
  assert.deepEqual(commands({ selected: "/envs/a/python" }), all);
  assert.deepEqual(commands({}), all.slice(1));
});

test("an interpreter that is set is the only one", () => {
  assert.deepEqual(commands({ setting: "${workspaceFolder}/env/bin/python", selected: "/envs/a/python" }), ["/shop/env/bin/python"]);
  assert.deepEqual(commands({ setting: "~/env/bin/python" }), ["/home/me/env/bin/python"]);
  assert.deepEqual(commands({ setting: "~other/python" }), ["~other/python"]);
});

const python: Candidate = { command: "python3", arguments: ["-m", "merge_runner"], origin: "PATH" };
const program: Candidate = { command: "merge-runner", arguments: [], origin: "PATH" };
const states: [Candidate, number | undefined, string, State][] = [
  [python, 0, "True True\n", "ready"],
  [python, 0, "True False\r\n", "no extra"],
  [python, 0, "False True\n", "no merge-runner"],
  [python, 0, "", "no merge-runner"],
  [python, 1, "", "does not run"],
  [python, undefined, "", "does not run"],
  [program, 0, "merge-runner 1.0", "ready"],
  [program, undefined, "", "does not run"],
];

for (const [candidate, status, output, expected] of states) {
  test(`${candidate.command} that ends with ${status} and prints ${JSON.stringify(output)}: ${expected}`, () => {
    assert.equal(stateOf(candidate, status, output), expected);
  });
}

const choices: [State[], number | undefined, RegExp][] = [
  [["does not run", "no merge-runner", "ready", "ready"], 2, /^$/],
  [["no merge-runner", "no extra", "does not run"], undefined, /^merge-runner in python1 has no language server\. Install it: python1 -m pip install 'merge-runner\[lsp\]'$/],
  [["does not run", "no merge-runner"], undefined, /^merge-runner is not installed in python1 \(PATH\)\. Install it: python1 -m pip/],
  [["does not run"], undefined, /^No Python interpreter with merge-runner was found\. python0 \(PATH\) does not run\. Select one/],
];

for (const [given, expected, problem] of choices) {
  test(`of candidates that are ${given.join(", ")}`, async () => {
    const all = given.map((_, at) => ({ ...python, command: `python${at}` }));
    const asked: string[] = [];
    const choice = await choose(all, async (candidate) => {
      asked.push(candidate.command);
      return given[all.indexOf(candidate)] ?? "does not run";
    });
    assert.equal(choice.server, expected === undefined ? undefined : all[expected]);
    assert.match(choice.problem, problem);
    assert.equal(asked.length, expected === undefined ? all.length : expected + 1);
    assert.equal(choice.log.length, asked.length);
  });
}
