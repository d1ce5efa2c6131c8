// The extension in a window: when the server starts, and what is shown. VS Code's API is an argument.
import * as os from "node:os";
import type * as vscode from "vscode";
import { ACTIONS, type Action, type Asked, asking, commandLine } from "./command";
import { type Candidate, candidates, choose, question, stateOf } from "./interpreter";
import { run, SAFE_PATH } from "./program";
import { type Project, projectAround, projectOf, schemaOf } from "./project";
import { type Hint, statusOf } from "./status";
import { type Ask, type Kind, KINDS, Views } from "./views";

export type Api = typeof vscode;

/** A connection to a server. */
export interface Client {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Return the inlay hints of a document: none where the server has none. */
  hints(document: vscode.TextDocument): Promise<readonly Hint[]>;
  view: Ask;
}

/** Make a client of the server that `command` starts, for files of the projects at `roots`. */
export type Connect = (command: string, args: string[], roots: string[], log: vscode.LogOutputChannel) => Client;

const SCHEMA = "merge-runner";
/** The commands that show views; code lenses of the server have these names. */
const NAMES: Record<Kind, string> = { compiled: "compile", lineage: "lineage" };
/** Milliseconds without a change after which the verdict is asked for. */
const PAUSE = 400;

/** What is used of the API of the Python extension. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

/** What is used of the API of the YAML extension: it asks for the schema of each file, then for its text. */
interface YamlApi {
  registerContributor(scheme: string, schemaOfFile: (uri: string) => string | undefined, text: (uri: string) => Promise<string>): boolean;
}

export class Session implements vscode.Disposable {
  private readonly log: vscode.LogOutputChannel;
  private readonly bar: vscode.StatusBarItem;
  private readonly views: Views;
  private readonly disposables: vscode.Disposable[];
  private projects: Project[] = [];
  private server: Candidate | undefined;
  private client: Client | undefined;
  private starting: Promise<void> = Promise.resolve();
  private python: PythonApi | undefined;
  private changed: NodeJS.Timeout | undefined;

  constructor(
    private readonly api: Api,
    private readonly connect: Connect,
  ) {
    const { commands, window, workspace } = api;
    this.log = window.createOutputChannel("merge-runner", { log: true });
    this.bar = window.createStatusBarItem("merge-runner.verdict", api.StatusBarAlignment.Left);
    this.bar.name = "Verdict of the MERGE";
    this.views = new Views(api, async (kind, uri, position) => (await this.client?.view(kind, uri, position)) ?? null);
    this.bar.command = "workbench.actions.view.problems";
    const restart = () => this.restart();
    const verdict = () => this.showVerdict();
    this.disposables = [
      this.log,
      this.bar,
      this.views,
      commands.registerCommand("merge-runner.restart", restart),
      commands.registerCommand("merge-runner.log", () => this.log.show()),
      ...ACTIONS.map((action) => commands.registerCommand(`merge-runner.${action}`, (asked?: Asked) => this.perform(action, asked))),
      ...KINDS.map((kind) => commands.registerCommand(`merge-runner.${NAMES[kind]}`, (asked?: Asked) => this.view(kind, asked))),
      workspace.onDidGrantWorkspaceTrust(restart),
      workspace.onDidChangeWorkspaceFolders(restart),
      workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("merge-runner.interpreter") && restart()),
      window.onDidChangeActiveTextEditor(verdict),
      workspace.onDidChangeTextDocument((event) => {
        if (event.document !== window.activeTextEditor?.document) return;
        clearTimeout(this.changed);
        this.changed = setTimeout(verdict, PAUSE);
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.changed);
    void this.client?.stop();
    for (const each of this.disposables) each.dispose();
  }

  /** Start the server where the workspace has a project and is trusted, and offer schemas to the YAML extension. */
  async start(): Promise<void> {
    await this.restart();
    const { extensions, Uri } = this.api;
    const yaml = await extensions.getExtension<YamlApi>("redhat.vscode-yaml")?.activate();
    yaml?.registerContributor(SCHEMA, (uri) => this.schemaUri(Uri.parse(uri)), (uri) => this.schemaText(Uri.parse(uri)));
  }

  /** One at a time: what is asked while a start is under way follows it. */
  private restart(): Promise<void> {
    this.starting = this.starting.then(() => this.startServer()).catch((error: unknown) => this.report(String(error)));
    return this.starting;
  }

  private async startServer(): Promise<void> {
    const { Uri, workspace } = this.api;
    await this.client?.stop();
    this.client = this.server = undefined;
    this.projects = workspace.isTrusted ? await this.findProjects() : [];
    const [first] = this.projects;
    if (first === undefined) return;
    const folder = workspace.getWorkspaceFolder(Uri.file(first.root))?.uri.fsPath ?? first.root;
    const setting = workspace.getConfiguration("merge-runner").get<string>("interpreter", "");
    const around = { setting, selected: await this.selected(folder), folder, home: os.homedir(), platform: process.platform };
    const choice = await choose(candidates(around), async (candidate) => {
      const { status, output } = await run(candidate.command, question(candidate), first.root);
      return stateOf(candidate, status, output);
    });
    for (const line of choice.log) this.log.info(line);
    if (choice.server === undefined) {
      this.report(choice.problem);
      return;
    }
    const { command, arguments: before } = choice.server;
    this.server = choice.server;
    const roots = this.projects.map((project) => project.root);
    this.client = this.connect(command, [...before, "lsp"], roots, this.log);
    try {
      await this.client.start();
    } catch (error) {
      this.log.error(String(error));
      this.report(`The server did not start, its output is in the log: ${command} ${[...before, "lsp"].join(" ")}`);
      return;
    }
    await this.showVerdict();
  }

  private async findProjects(): Promise<Project[]> {
    const { workspace } = this.api;
    const files = await workspace.findFiles("**/pyproject.toml", "**/{node_modules,.venv,venv,target}/**", 200);
    const texts = await Promise.all(files.map((file) => workspace.fs.readFile(file)));
    const found = files.map((file, at) => projectOf(file.fsPath, new TextDecoder().decode(texts[at])));
    // the outermost project first: its folder is that of the server
    return found.filter((project) => project !== undefined).sort((a, b) => a.root.length - b.root.length);
  }

  /** Return the interpreter that the Python extension has selected; a change of it restarts the server. */
  private async selected(folder: string): Promise<string | undefined> {
    const { extensions, Uri } = this.api;
    if (this.python === undefined) {
      this.python = await extensions.getExtension<PythonApi>("ms-python.python")?.activate();
      const changed = this.python?.environments.onDidChangeActiveEnvironmentPath(() => this.restart());
      if (changed !== undefined) this.disposables.push(changed);
    }
    const environments = this.python?.environments;
    const found = await environments?.resolveEnvironment(environments.getActiveEnvironmentPath(Uri.file(folder)));
    return found?.executable.uri?.fsPath;
  }

  private report(problem: string): void {
    this.log.error(problem);
    void this.api.window.showErrorMessage(problem, "Show Log", "Restart").then((answer) => {
      if (answer === "Show Log") this.log.show();
      if (answer === "Restart") void this.restart();
    });
  }

  /** Return the file of the editor with its project where a server runs; else show why not. */
  private served(): { file: vscode.TextDocument; project: Project; server: Candidate } | undefined {
    const { window } = this.api;
    const file = window.activeTextEditor?.document;
    const project = file && projectAround(file.uri.fsPath, this.projects);
    if (file !== undefined && project !== undefined && this.server !== undefined) return { file, project, server: this.server };
    const inProject = project !== undefined;
    void window.showWarningMessage(inProject ? "merge-runner was not found: see the log." : "This file is in no merge-runner project.");
    return undefined;
  }

  private async perform(action: Action, asked?: Asked): Promise<void> {
    const { ProcessExecution, Task, TaskScope, tasks } = this.api;
    const served = this.served();
    if (served === undefined) return;
    const { file, project, server } = served;
    await file.save();
    const line = commandLine(server, asked ?? asking(action, file.uri.fsPath, project.root));
    const execution = new ProcessExecution(line.command, line.arguments, { cwd: line.folder, env: SAFE_PATH });
    await tasks.executeTask(new Task({ type: "merge-runner" }, TaskScope.Workspace, action, "merge-runner", execution));
  }

  private async view(kind: Kind, asked?: Asked): Promise<void> {
    const editor = this.api.window.activeTextEditor;
    const served = this.served();
    if (editor === undefined || served === undefined) return;
    await this.views.show(kind, served.file, asked?.at?.position ?? editor.selection.active);
  }

  private async showVerdict(): Promise<void> {
    const { MarkdownString, ThemeColor, window } = this.api;
    const document = window.activeTextEditor?.document;
    const served = document !== undefined && projectAround(document.uri.fsPath, this.projects) !== undefined;
    const hints = served ? await this.client?.hints(document).catch(() => []) : [];
    if (window.activeTextEditor?.document !== document) return; // another file by now
    const status = statusOf(hints ?? []);
    if (status === undefined) {
      this.bar.hide();
      return;
    }
    this.bar.text = status.text;
    this.bar.tooltip = new MarkdownString(status.markdown);
    this.bar.backgroundColor = status.warns ? new ThemeColor("statusBarItem.warningBackground") : undefined;
    this.bar.show();
  }

  private schemaUri(file: vscode.Uri): string | undefined {
    const project = file.scheme === "file" ? projectAround(file.fsPath, this.projects) : undefined;
    const name = project && schemaOf(file.fsPath, project);
    return name && this.server && `${SCHEMA}://schema/${name}`;
  }

  private async schemaText(schema: vscode.Uri): Promise<string> {
    const [project] = this.projects;
    if (this.server === undefined || project === undefined) throw new Error("merge-runner is not running");
    const given = [...this.server.arguments, "schema", schema.path.slice(1)];
    const { status, output, errors } = await run(this.server.command, given, project.root);
    if (status !== 0) throw new Error(errors);
    return output;
  }
}
