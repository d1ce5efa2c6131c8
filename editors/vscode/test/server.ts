// A project on disk, and the server on standard input and output as VS Code drives it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  DiagnosticRefreshRequest,
  type DiagnosticSeverity,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  type DocumentDiagnosticReport,
  DocumentDiagnosticRequest,
  ExecuteCommandRequest,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  type InitializeResult,
  type InlayHint,
  InlayHintRequest,
  type ProtocolConnection,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { ENVIRONMENT } from "../src/program";
import type { Kind, View } from "../src/views";

/** The interpreter that has merge-runner; the tests of the Python package set it. */
export const PYTHON = process.env.MERGE_RUNNER_PYTHON ?? "python3";

const FILES: Record<string, string> = {
  "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
  "profiles.yml": "shop:\n  target: dev\n  outputs:\n    dev: {schema: shop}\n",
  "models/stg_orders.sql": "{{ config(materialized='view') }}\nselect * from {{ source('raw', 'orders') }}\n",
  "models/models.yml": `sources:
  - name: raw
    tables:
      - {name: orders}
models:
  - name: stg_orders
    columns:
      - {name: order_id, data_tests: [unique]}
  - name: orders
    columns:
      - {name: order_date, data_type: date, constraints: [{type: not_null}]}
      - {name: order_id, data_type: bigint, constraints: [{type: not_null}]}
      - {name: amount, data_type: bigint}
      - {name: is_deleted, data_type: boolean}
      - {name: updated_at, data_type: timestamp}
`,
  "models/orders.sql": `{{ config(partition_by=['order_date']) }}
merge into {{ this }} as t
using {{ ref('stg_orders') }} as s
    on t.order_id = s.order_id
when matched then update set *
when not matched then insert *
`,
};

/** Write a project into a new folder, and return that. */
export function makeProject(): string {
  const root = mkdtempSync(join(tmpdir(), "merge-runner-"));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

export class Server {
  private readonly connection: ProtocolConnection;
  private readonly versions = new Map<string, number>();
  private readonly ended: Promise<number | null>;
  errors = "";

  constructor(
    command: string,
    args: string[],
    private readonly root: string,
  ) {
    const child = spawn(command, args, { cwd: root, env: ENVIRONMENT });
    child.stderr.on("data", (text) => (this.errors += text));
    this.ended = new Promise((resolve) => child.on("close", resolve));
    this.connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
    this.connection.onRequest(DiagnosticRefreshRequest.type, () => undefined);
    this.connection.listen();
  }

  async initialize(): Promise<InitializeResult> {
    const capabilities = { general: { positionEncodings: ["utf-16"] }, textDocument: { diagnostic: {}, inlayHint: {} } };
    const folder = pathToFileURL(this.root).toString();
    const workspaceFolders = [{ uri: folder, name: "shop" }];
    const result = await this.connection.sendRequest(InitializeRequest.type, { processId: process.pid, rootUri: folder, workspaceFolders, capabilities });
    await this.connection.sendNotification(InitializedNotification.type, {});
    return result;
  }

  /** Return a view as the extension asks for it. */
  view(kind: Kind, uri: string, position: { line: number; character: number }): Promise<View | null> {
    const given = { command: `merge-runner.view.${kind}`, arguments: [{ textDocument: { uri }, position }] };
    return this.connection.sendRequest(ExecuteCommandRequest.type, given);
  }

  /** Let a file have an unsaved text, and return its URI. */
  async edit(name: string, text: string): Promise<string> {
    const uri = pathToFileURL(join(this.root, name)).toString();
    const version = (this.versions.get(uri) ?? 0) + 1;
    this.versions.set(uri, version);
    if (version === 1) {
      const textDocument = { uri, languageId: "sql", version, text };
      await this.connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
    } else {
      const textDocument = { uri, version };
      await this.connection.sendNotification(DidChangeTextDocumentNotification.type, { textDocument, contentChanges: [{ text }] });
    }
    return uri;
  }

  /** Return each finding as `code line:character`, both from 0, of the severities given. */
  async findings(uri: string, severities: DiagnosticSeverity[] = [1, 2, 3, 4]): Promise<string[]> {
    const report: DocumentDiagnosticReport = await this.connection.sendRequest(DocumentDiagnosticRequest.type, { textDocument: { uri } });
    const items = report.kind === "full" ? report.items : [];
    const chosen = items.filter((item) => severities.includes(item.severity ?? 1));
    return chosen.map(({ code, range: { start } }) => `${code} ${start.line}:${start.character}`);
  }

  async hints(uri: string): Promise<InlayHint[]> {
    const range = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };
    return (await this.connection.sendRequest(InlayHintRequest.type, { textDocument: { uri }, range })) ?? [];
  }

  /** Shut it down, and return its exit status. */
  async stop(): Promise<number | null> {
    await this.connection.sendRequest(ShutdownRequest.type);
    await this.connection.sendNotification(ExitNotification.type);
    return this.ended;
  }
}
