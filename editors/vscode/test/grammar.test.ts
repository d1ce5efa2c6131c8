import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { createOnigScanner, createOnigString, loadWASM } from "vscode-oniguruma";
import { type IGrammar, INITIAL, parseRawGrammar, Registry } from "vscode-textmate";

/** What Jinja is injected into: the parts of a grammar of SQL in which it has to be found as well. */
const SQL = {
  scopeName: "source.sql",
  patterns: [
    { name: "comment.line.sql", begin: "--", end: "\\n" },
    { name: "string.quoted.sql", begin: "'", end: "'" },
    { name: "keyword.sql", match: "\\b(?:merge|into|select|on)\\b" },
  ],
};
const JINJA = readFileSync("syntaxes/jinja.json", "utf8");
let grammar: IGrammar;

before(async () => {
  await loadWASM(readFileSync(join(dirname(require.resolve("vscode-oniguruma")), "onig.wasm")));
  const registry = new Registry({
    onigLib: Promise.resolve({ createOnigScanner, createOnigString }),
    getInjections: (scope) => (scope === "source.sql" ? ["merge-runner.jinja"] : []),
    loadGrammar: async (scope) => parseRawGrammar(scope === "source.sql" ? JSON.stringify(SQL) : JINJA, "grammar.json"),
  });
  grammar = (await registry.loadGrammar("source.sql")) as IGrammar;
});

const scopes: [string, string, string][] = [
  ["merge into {{ this }} as t", "merge", "keyword.sql"],
  ["merge into {{ this }} as t", "this", "variable.other.jinja"],
  ["from {{ ref('stg_orders') }}", "ref", "entity.name.function.jinja"],
  ["from {{ ref('stg_orders') }}", "'stg_orders'", "string.quoted.single.jinja"],
  ["{%- if is_incremental() and x is none -%}", "if", "keyword.control.jinja"],
  ["{%- if is_incremental() and x is none -%}", "and", "keyword.operator.logical.jinja"],
  ["{# select #}", " select ", "comment.block.jinja"],
  ["on day = '{{ var('from') }}' select", "var", "entity.name.function.jinja"],
  ["on day = '{{ var('from') }}' select", "select", "keyword.sql"],
  ["-- depends_on: {{ ref('m') }}", "ref", "entity.name.function.jinja"],
  ["{{ x | literal }}", "literal", "support.function.filter.jinja"],
  ["{{ x }} select", "select", "keyword.sql"],
];

for (const [line, token, scope] of scopes) {
  test(`${token} in ${line} is ${scope}`, () => {
    const found = grammar.tokenizeLine(line, INITIAL).tokens.find((each) => line.slice(each.startIndex, each.endIndex) === token);
    assert.equal(found?.scopes.at(-1), scope);
  });
}
