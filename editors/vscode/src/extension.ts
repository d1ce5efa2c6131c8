// What VS Code loads: the session with the API and a client of the real ones.
import * as vscode from "vscode";
import { ExecuteCommandRequest, InlayHintRequest, LanguageClient } from "vscode-languageclient/node";
import { ENVIRONMENT } from "./program";
import { type Client, Session } from "./session";

const SERVED = "**/*.{sql,py,scala,yml,yaml,toml}";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const session = new Session(vscode, connect);
  context.subscriptions.push(session);
  await session.start();
}

function connect(command: string, args: string[], roots: string[], outputChannel: vscode.LogOutputChannel): Client {
  const program = { command, args, options: { cwd: roots[0], env: ENVIRONMENT } };
  // by path: files of other extensions have languages of their own, such as `jinja-sql`
  const documentSelector = roots.flatMap((root) => {
    const baseUri = vscode.Uri.file(root).toString();
    return [
      { scheme: "file", pattern: { baseUri, pattern: SERVED } },
      { scheme: "vscode-notebook-cell", pattern: { baseUri, pattern: "**/*.ipynb" } },
    ];
  });
  const client = new LanguageClient("merge-runner", "merge-runner", program, { documentSelector, outputChannel });
  return {
    start: () => client.start(),
    stop: () => client.dispose(),
    hints: async ({ uri, lineCount }) => {
      if (!client.isRunning() || !client.initializeResult?.capabilities.inlayHintProvider) return [];
      const range = { start: { line: 0, character: 0 }, end: { line: lineCount, character: 0 } };
      return (await client.sendRequest(InlayHintRequest.type, { textDocument: { uri: uri.toString() }, range })) ?? [];
    },
    view: async (kind, uri, position) => {
      if (!client.isRunning()) return null;
      const given = { command: `merge-runner.view.${kind}`, arguments: [{ textDocument: { uri }, position }] };
      return (await client.sendRequest(ExecuteCommandRequest.type, given)) ?? null;
    },
  };
}
