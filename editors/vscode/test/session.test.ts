// The session with an API in memory and a client that is recorded; merge-runner and its processes are real.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Asked } from "../src/command";
import { MODULE } from "../src/interpreter";
import { type Api, type Client, Session } from "../src/session";
import type { Hint } from "../src/status";
import type { Kind, View } from "../src/views";
import { makeProject, PYTHON } from "./server";

let root: string;
beforeEach(() => (root = makeProject()));
afterEach(() => rmSync(root, { recursive: true }));

/** A URI of VS Code: of a file, or of a virtual document. */
class AnyUri {
  constructor(readonly scheme: string, readonly path: string, readonly query = "", readonly fragment = "") {}
  get fsPath(): string {
    return this.path;
  }
  with({ fragment }: { fragment: string }): AnyUri {
    return new AnyUri(this.scheme, this.path, this.query, fragment);
  }
  toString(): string {
    const file = this.scheme === "file" ? pathToFileURL(this.path).toString() : `${this.scheme}:${encodeURI(this.path)}`;
    return file + (this.query && `?${encodeURIComponent(this.query)}`) + (this.fragment && `#${this.fragment}`);
  }
  static file(path: string): AnyUri {
    return new AnyUri("file", path);
  }
  static from({ scheme, path, query }: { scheme: string; path: string; query: string }): AnyUri {
    return new AnyUri(scheme, path, query);
  }
  static parse(text: string): AnyUri {
    const { protocol, pathname, search } = new URL(text);
    return new AnyUri(protocol.slice(0, -1), decodeURIComponent(pathname), decodeURIComponent(search.slice(1)));
  }
}

interface Provider {
  onDidChange: (listener: (uri: AnyUri) => void) => void;
  provideTextDocumentContent(uri: AnyUri): Promise<string>;
}

/** What VS Code does as far as the session uses it, with what a user sees and can do as fields. */
class Window {
  setting = PYTHON;
  /** The interpreter of the Python extension. */
  selected = "";
  trusted = true;
  /** Whether a server ends when it starts. */
  broken = false;
  document: object;
  hints: Hint[] = [];
  readonly errors: string[] = [];
  readonly warnings: string[] = [];
  readonly clients: string[] = [];
  readonly bar = { text: "", shown: false, show: () => (this.bar.shown = true), hide: () => (this.bar.shown = false), dispose: () => {} };
  tasks: { command: string; args: string[]; options: object }[] = [];
  private readonly commands = new Map<string, (asked?: Asked) => Promise<void>>();
  private readonly listeners = new Map<string, ((event: unknown) => unknown)[]>();
  schema: ((uri: string) => string | undefined) | undefined;
  schemaText: ((uri: string) => Promise<string>) | undefined;
  views: Partial<Record<Kind, View>> = {};
  asked: { line: number; character: number }[] = [];
  readonly shown: string[] = [];
  /** The texts of virtual documents, in the order in which they were read. */
  readonly texts: string[] = [];
  provider: Provider | undefined;
  definition: ((document: { uri: AnyUri }, at: { line: number; character: number }) => { uri: AnyUri; range: { at: number[] } } | undefined) | undefined;
  links: ((document: { uri: AnyUri }) => { range: { at: number[] }; target: AnyUri }[]) | undefined;
  opened: AnyUri | undefined;
  readonly session: Session;

  constructor() {
    const event = (name: string) => (listener: (event: unknown) => unknown) => {
      this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]);
      return { dispose: () => {} };
    };
    const uri = AnyUri.file;
    const window = this;
    this.document = { uri: uri(join(root, "models/orders.sql")), save: async () => true };
    const api = {
      Uri: AnyUri,
      Range: class { constructor(...at: number[]) { Object.assign(this, { at }); } },
      Location: class { constructor(readonly uri: AnyUri, readonly range: { at: number[] }) {} },
      DocumentLink: class { constructor(readonly range: { at: number[] }, readonly target: AnyUri) {} },
      EventEmitter: class {
        private readonly listeners: ((uri: AnyUri) => void)[] = [];
        event = (listener: (uri: AnyUri) => void) => void this.listeners.push(listener);
        fire = (each: AnyUri) => this.listeners.forEach((listener) => listener(each));
        dispose = () => {};
      },
      ViewColumn: { Beside: -2 },
      languages: {
        registerDefinitionProvider: (_: object, { provideDefinition }: { provideDefinition: Window["definition"] }) => {
          this.definition = provideDefinition;
          return { dispose: () => {} };
        },
        registerDocumentLinkProvider: (_: object, { provideDocumentLinks }: { provideDocumentLinks: Window["links"] }) => {
          this.links = provideDocumentLinks;
          return { dispose: () => {} };
        },
      },
      StatusBarAlignment: { Left: 1 },
      TaskScope: { Workspace: 2 },
      ThemeColor: class {},
      ProcessExecution: class { constructor(readonly command: string, readonly args: string[], readonly options: object) {} },
      Task: class { constructor(_kind: object, _scope: number, _name: string, _source: string, readonly execution: Window["tasks"][0]) {} },
      tasks: { executeTask: async (task: { execution: Window["tasks"][0] }) => void this.tasks.push(task.execution) },
      commands: { registerCommand: (name: string, perform: () => Promise<void>) => (this.commands.set(name, perform), { dispose: () => {} }) },
      MarkdownString: class { constructor(readonly value: string) {} },
      extensions: { getExtension: (name: string) => extensions[name] && { activate: async () => extensions[name] } },
      window: {
        createOutputChannel: () => ({ info: () => {}, error: () => {}, show: () => {}, dispose: () => {} }),
        createStatusBarItem: () => this.bar,
        showErrorMessage: async (text: string) => void this.errors.push(text),
        showWarningMessage: async (text: string) => void this.warnings.push(text),
        onDidChangeActiveTextEditor: event("editor"),
        get activeTextEditor() {
          return { document: window.document, selection: { active: { line: 1, character: 2 } } };
        },
        showTextDocument: async (shown: { uri: AnyUri }, { viewColumn }: { viewColumn: number }) => void this.shown.push(`${viewColumn} ${shown.uri.path}`),
      },
      workspace: {
        get isTrusted() {
          return window.trusted;
        },
        findFiles: async () => [uri(join(root, "pyproject.toml"))],
        fs: { readFile: async (file: { fsPath: string }) => readFileSync(file.fsPath) },
        getWorkspaceFolder: () => ({ uri: uri(root) }),
        getConfiguration: () => ({ get: () => this.setting }),
        onDidGrantWorkspaceTrust: event("trust"),
        onDidChangeWorkspaceFolders: event("folders"),
        onDidChangeConfiguration: event("configuration"),
        onDidChangeTextDocument: event("text"),
        onDidCloseTextDocument: event("closed"),
        registerTextDocumentContentProvider: (_: string, provider: Provider) => {
          this.provider = provider;
          provider.onDidChange((changed) => void this.read(changed));
          return { dispose: () => {} };
        },
        openTextDocument: async (opened: AnyUri) => (await this.read(opened), { uri: opened }),
      },
    };
    const environments = {
      getActiveEnvironmentPath: () => ({ path: this.selected }),
      resolveEnvironment: async ({ path }: { path: string }) => (path === "" ? undefined : { executable: { uri: uri(path) } }),
      onDidChangeActiveEnvironmentPath: event("environment"),
    };
    const yaml = {
      registerContributor: (_: string, schema: (uri: string) => string | undefined, text: (uri: string) => Promise<string>) => {
        this.schema = schema;
        this.schemaText = text;
        return true;
      },
    };
    const extensions: Record<string, unknown> = { "ms-python.python": { environments }, "redhat.vscode-yaml": yaml };
    this.session = new Session(api as unknown as Api, (command, args, roots) => this.connect(command, args, roots));
  }

  private connect(command: string, args: string[], roots: string[]): Client {
    const name = [command, ...args, ...roots].join(" ");
    return {
      start: async () => {
        this.clients.push(`start ${name}`);
        if (this.broken) throw new Error("connection got disposed");
      },
      stop: async () => void this.clients.push(`stop ${name}`),
      hints: async () => this.hints,
      view: async (kind, _uri, position) => {
        this.asked.push(position);
        return this.views[kind] ?? null;
      },
    };
  }

  private async read(uri: AnyUri): Promise<void> {
    this.opened = uri;
    this.texts.push((await this.provider?.provideTextDocumentContent(uri)) ?? "");
  }

  perform(command: string, asked?: Asked): Promise<void> {
    return this.commands.get(command)?.(asked) ?? Promise.reject(new Error(command));
  }

  happens(name: string, event?: unknown): Promise<unknown> {
    return Promise.all((this.listeners.get(name) ?? []).map((listener) => listener(event)));
  }
}

test("the server starts with the interpreter that is set, and restarts when asked", async () => {
  const window = new Window();
  await window.session.start();
  const name = `${PYTHON} ${MODULE.join(" ")} lsp ${root}`;
  assert.deepEqual([window.clients, window.errors], [[`start ${name}`], []]);
  await window.perform("merge-runner.restart");
  assert.deepEqual(window.clients.slice(1), [`stop ${name}`, `start ${name}`]);
});

test("the interpreter of the Python extension is taken, and another one when it is selected", async () => {
  const window = new Window();
  window.setting = "";
  window.selected = interpreterWith([]);
  mkdirSync(join(root, ".venv/bin"), { recursive: true });
  writeFileSync(join(root, ".venv/bin/python"), `#!/bin/sh\nexec ${PYTHON} "$@"\n`, { mode: 0o755 });
  await window.session.start();
  window.selected = PYTHON;
  await window.happens("environment");
  const [first, , second] = window.clients;
  assert.equal(first, `start ${join(root, ".venv/bin/python")} ${MODULE.join(" ")} lsp ${root}`);
  assert.equal(second, `start ${PYTHON} ${MODULE.join(" ")} lsp ${root}`);
});

test("nothing runs before the workspace is trusted", async () => {
  const window = new Window();
  window.trusted = false;
  await window.session.start();
  assert.deepEqual([window.clients, window.errors], [[], []]);
  window.trusted = true;
  await window.happens("trust");
  assert.equal(window.clients.length, 1);
});

test("nothing runs where no pyproject.toml has merge-runner's table", async () => {
  writeFileSync(join(root, "pyproject.toml"), "[project]\n");
  const window = new Window();
  await window.session.start();
  await window.perform("merge-runner.build");
  assert.deepEqual([window.clients, window.errors, window.warnings], [[], [], ["This file is in no merge-runner project."]]);
});

/** An interpreter that imports nothing but these packages, which are empty. */
function interpreterWith(packages: string[]): string {
  for (const name of packages) mkdirSync(join(root, "packages", name), { recursive: true });
  const script = join(root, "python");
  writeFileSync(script, `#!/bin/sh\nexec env PYTHONPATH=${root}/packages ${PYTHON} -S "$@"\n`, { mode: 0o755 });
  return script;
}

for (const [packages, message] of [
  [[], "merge-runner is not installed in PYTHON (the setting merge-runner.interpreter). Install it: PYTHON -m pip install 'merge-runner[lsp]'"],
  [["merge_runner"], "merge-runner in PYTHON has no language server. Install it: PYTHON -m pip install 'merge-runner[lsp]'"],
] as [string[], string][]) {
  test(`an interpreter with ${packages.join() || "nothing"} installed: the user learns what to install`, async () => {
    const window = new Window();
    window.setting = interpreterWith(packages);
    await window.session.start();
    assert.deepEqual(window.errors, [message.replaceAll("PYTHON", window.setting)]);
    assert.deepEqual(window.clients, []);
  });
}

test("an interpreter that is missing is named; once it is set right, the server starts", async () => {
  const window = new Window();
  window.setting = join(root, "missing");
  await window.session.start();
  assert.match(window.errors.join(), /missing \(the setting merge-runner\.interpreter\) does not run/);
  window.setting = PYTHON;
  await window.happens("configuration", { affectsConfiguration: (name: string) => name === "merge-runner.interpreter" });
  assert.equal(window.clients.length, 1);
});

test("a server that does not start is reported with its command line", async () => {
  const window = new Window();
  window.broken = true;
  await window.session.start();
  assert.deepEqual(window.errors, [`The server did not start, its output is in the log: ${PYTHON} ${MODULE.join(" ")} lsp`]);
});

test("commands run as tasks with the same interpreter", async () => {
  const window = new Window();
  await window.session.start();
  await window.perform("merge-runner.lint");
  await window.perform("merge-runner.explain");
  await window.perform("merge-runner.test", { root, arguments: ["test", "--select", "a_test"] }); // as a code lens of the server does
  const options = { cwd: root, env: { PYTHONSAFEPATH: "1" } };
  const given = window.tasks.map((task) => [task.command, ...task.args, task.options]);
  assert.deepEqual(given, [
    [PYTHON, ...MODULE, "lint", join("models", "orders.sql"), options],
    [PYTHON, ...MODULE, "explain", "--select", "orders", options],
    [PYTHON, ...MODULE, "test", "--select", "a_test", options],
  ]);
});

test("the status bar follows the verdict of the current file", async () => {
  const window = new Window();
  await window.session.start();
  assert.equal(window.bar.shown, false);
  window.hints = [{ label: "scan: none" }];
  await window.happens("text", { document: { uri: AnyUri.file(join(root, "other.sql")) } });
  await window.happens("text", { document: window.document });
  await setTimeout(600);
  assert.deepEqual([window.bar.shown, window.bar.text], [true, "$(warning) MERGE: full scan"]);
  window.hints = [];
  await window.happens("editor");
  assert.equal(window.bar.shown, false);
});

test("the YAML extension gets the schema of a property file from merge-runner", async () => {
  const window = new Window();
  await window.session.start();
  const schemaUri = (name: string) => window.schema?.(pathToFileURL(join(root, name)).toString());
  assert.equal(schemaUri("mkdocs.yml"), undefined);
  const schema = schemaUri("models/models.yml");
  assert.equal(schema, "merge-runner://schema/properties");
  const text = await window.schemaText?.(schema ?? "");
  assert.ok(Object.hasOwn(JSON.parse(text ?? "{}").properties, "unit_tests"));
});

const at = (line: number, character: number, endLine = line, end = character) => ({ start: { line, character }, end: { line: endLine, character: end } });

test("a view is shown next to the file, follows its text, and leads back to it", async () => {
  const window = new Window();
  await window.session.start();
  const uri = pathToFileURL(join(root, "models/orders.sql")).toString();
  window.views.compiled = {
    title: "orders (compiled)",
    text: "merge into shop.orders",
    links: [
      { range: at(0, 0, 0, 10), location: { uri, range: at(1, 0, 1, 10) }, isCopy: true },
      { range: at(0, 11, 0, 22), location: { uri, range: at(1, 11, 1, 21) }, isCopy: false },
    ],
  };
  await window.perform("merge-runner.compile");
  assert.deepEqual([window.shown, window.texts], [["-2 /orders (compiled).sql"], ["merge into shop.orders"]]);
  const document = { uri: window.opened ?? AnyUri.file("") };
  const leads = (character: number) => window.definition?.(document, { line: 0, character });
  assert.deepEqual([leads(6)?.uri.path, leads(6)?.range.at], [join(root, "models/orders.sql"), [1, 6, 1, 10]]);
  assert.deepEqual(leads(15)?.range.at, [1, 11, 1, 21]);
  assert.equal(leads(30), undefined);
  const found = window.links?.(document).map(({ range, target }) => [range.at, target.toString()]);
  assert.deepEqual(found, [[[0, 11, 0, 22], `${uri}#L2,12`]]);

  window.views.compiled = { title: "orders (compiled)", text: "merge into shop.orders as t", links: [] };
  await window.happens("text", { document: window.document });
  await setTimeout(600);
  window.views.compiled = undefined; // as while the server has nothing to show
  await window.happens("text", { document: window.document });
  await setTimeout(600);
  assert.deepEqual(window.texts.slice(1), ["merge into shop.orders as t", "merge into shop.orders as t"]);
});

test("a view above a MERGE is that of its place", async () => {
  const window = new Window();
  await window.session.start();
  const position = { line: 3, character: 1 };
  await window.perform("merge-runner.lineage", { root, arguments: [], at: { position } });
  assert.deepEqual(window.asked, [position]);
});

test("where there is nothing to show, it is said", async () => {
  const window = new Window();
  await window.session.start();
  await window.perform("merge-runner.lineage");
  assert.deepEqual([window.shown, window.warnings], [[], ["There is no lineage of what is here."]]);
});
