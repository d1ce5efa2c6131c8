// Texts of the server next to a file: the SQL that a model renders to, and lineage, with the ways back to the files.
import type * as vscode from "vscode";
import type { Api } from "./session";

export type Kind = "compiled" | "lineage";
export const KINDS: readonly Kind[] = ["compiled", "lineage"];

interface Position {
  line: number;
  character: number;
}

interface Range {
  start: Position;
  end: Position;
}

/** `isCopy`: the range is the author's own text. */
export interface ViewLink {
  range: Range;
  location: { uri: string; range: Range };
  isCopy: boolean;
}

export interface View {
  title: string;
  text: string;
  links: ViewLink[];
}

/** Ask the server for a view of a document at a position; null where there is nothing to show. */
export type Ask = (kind: Kind, uri: string, position: Position) => Promise<View | null>;

const SCHEME = "merge-runner-view";
/** Milliseconds without a change after which an open view is asked for again. */
const PAUSE = 400;
const SUFFIXES: Record<Kind, string> = { compiled: "sql", lineage: "txt" };

/** What a view is of; its URI has it as the query. */
interface Subject {
  kind: Kind;
  uri: string;
  position: Position;
}

/** Provides the texts of views and what is linked in them. */
export class Views implements vscode.Disposable {
  private readonly known = new Map<string, View>();
  private readonly changed: vscode.EventEmitter<vscode.Uri>;
  private readonly disposables: vscode.Disposable[];
  private pause: NodeJS.Timeout | undefined;

  constructor(
    private readonly api: Api,
    private readonly ask: Ask,
  ) {
    const { languages, workspace } = api;
    this.changed = new api.EventEmitter<vscode.Uri>();
    this.disposables = [
      this.changed,
      workspace.registerTextDocumentContentProvider(SCHEME, {
        onDidChange: this.changed.event,
        provideTextDocumentContent: (uri) => this.text(uri),
      }),
      languages.registerDefinitionProvider({ scheme: SCHEME }, { provideDefinition: (document, at) => this.definition(document.uri, at) }),
      languages.registerDocumentLinkProvider({ scheme: SCHEME }, { provideDocumentLinks: (document) => this.links(document.uri) }),
      workspace.onDidChangeTextDocument(({ document }) => this.refresh(document.uri.toString())),
      workspace.onDidCloseTextDocument((document) => this.known.delete(document.uri.toString())),
    ];
  }

  dispose(): void {
    clearTimeout(this.pause);
    for (const each of this.disposables) each.dispose();
  }

  /** Show a view next to the file that it is of, which keeps the focus. */
  async show(kind: Kind, document: vscode.TextDocument, position: Position): Promise<void> {
    const { Uri, ViewColumn, window, workspace } = this.api;
    const subject: Subject = { kind, uri: document.uri.toString(), position: { line: position.line, character: position.character } };
    const found = await this.ask(kind, subject.uri, subject.position);
    if (found === null) {
      void window.showWarningMessage(`There is no ${kind === "compiled" ? "compiled SQL" : "lineage"} of what is here.`);
      return;
    }
    const uri = Uri.from({ scheme: SCHEME, path: `/${found.title}.${SUFFIXES[kind]}`, query: JSON.stringify(subject) });
    const isOpen = this.known.has(uri.toString());
    this.known.set(uri.toString(), found);
    const shown = await workspace.openTextDocument(uri);
    if (isOpen) this.changed.fire(uri);
    await window.showTextDocument(shown, { viewColumn: ViewColumn.Beside, preserveFocus: true, preview: false });
  }

  private async text(uri: vscode.Uri): Promise<string> {
    const subject = JSON.parse(uri.query) as Subject;
    const found = await this.ask(subject.kind, subject.uri, subject.position).catch(() => undefined);
    if (found) this.known.set(uri.toString(), found);
    return this.known.get(uri.toString())?.text ?? ""; // what was shown last stays while the server has nothing
  }

  private refresh(changed: string): void {
    const { Uri } = this.api;
    const open = [...this.known.keys()].map((each) => Uri.parse(each));
    const affected = open.filter((each) => (JSON.parse(each.query) as Subject).uri === changed);
    if (affected.length === 0) return;
    clearTimeout(this.pause);
    this.pause = setTimeout(() => affected.forEach((each) => this.changed.fire(each)), PAUSE);
  }

  private definition(uri: vscode.Uri, at: Position): vscode.Location | undefined {
    const link = this.known.get(uri.toString())?.links.find(({ range }) => holds(range, at));
    if (link === undefined) return undefined;
    const { start, end } = link.location.range;
    const { Location, Uri } = this.api;
    // a copy leads to the character itself
    const inside = link.isCopy ? at.character - link.range.start.character : 0;
    const range = this.range({ start: { line: start.line, character: start.character + inside }, end });
    return new Location(Uri.parse(link.location.uri), range);
  }

  private links(uri: vscode.Uri): vscode.DocumentLink[] {
    const { DocumentLink, Uri } = this.api;
    const found = this.known.get(uri.toString())?.links.filter((link) => !link.isCopy) ?? [];
    return found.map(({ range, location }) => {
      const { line, character } = location.range.start;
      return new DocumentLink(this.range(range), Uri.parse(location.uri).with({ fragment: `L${line + 1},${character + 1}` }));
    });
  }

  private range({ start, end }: Range): vscode.Range {
    return new this.api.Range(start.line, start.character, end.line, end.character);
  }
}

function holds({ start, end }: Range, at: Position): boolean {
  return start.line === at.line && start.character <= at.character && at.character <= end.character;
}
