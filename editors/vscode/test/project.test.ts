import assert from "node:assert/strict";
import { test } from "node:test";
import { projectAround, projectOf, schemaOf } from "../src/project";

const declared: [string, boolean][] = [
  ['[tool.merge-runner]\nname = "shop"', true],
  ["[tool.merge-runner.lint]\n", true],
  ["  [ tool . merge-runner ]", true],
  ['[tool."merge-runner"]', true],
  ["# [tool.merge-runner]", false],
  ["[tool.merge-runner-plugin]", false],
  ['[project]\ndependencies = ["merge-runner"]', false],
];

for (const [text, expected] of declared) {
  test(`whether it is a project: ${JSON.stringify(text)}`, () => {
    assert.equal(projectOf("/shop/pyproject.toml", text) !== undefined, expected);
  });
}

test("folders of property files are those of the settings", () => {
  const text = "[tool.merge-runner]\nmodel-paths = [\n  'marts',\n  \"more/models/\",\n]\nseed-paths = []\n";
  assert.deepEqual(projectOf("/shop/pyproject.toml", text), { root: "/shop", yamlFolders: ["marts", "more/models/", "macros"] });
});

const project = { root: "/shop", yamlFolders: ["models", "more/models/"] };
const schemas: [string, string | undefined][] = [
  ["/shop/models/staging/orders.yml", "properties"],
  ["/shop/models/orders.yaml", "properties"],
  ["/shop/more/models/orders.yml", "properties"],
  ["/shop/selectors.yml", "selectors"],
  ["/shop/profiles.yml", "profiles"],
  ["/shop/catalog.yml", "catalog"],
  ["/shop/mkdocs.yml", undefined],
  ["/shop/models2/orders.yml", undefined],
  ["/shop/models/orders.sql", undefined],
  ["/shop/constructor", undefined],
  ["/shopping/models/orders.yml", undefined],
];

for (const [file, expected] of schemas) {
  test(`the schema of ${file}`, () => assert.equal(schemaOf(file, project), expected));
}

test("a file belongs to the nearest project", () => {
  const inner = { root: "/shop/examples/a", yamlFolders: [] };
  assert.equal(projectAround("/shop/examples/a/models/m.sql", [project, inner]), inner);
  assert.equal(projectAround("/shop/models/m.sql", [project, inner]), project);
  assert.equal(projectAround("/elsewhere/m.sql", [project, inner]), undefined);
});
