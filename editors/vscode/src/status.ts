// The entry in the status bar: the verdict of the MERGE of the current file, which the server has as an inlay hint.

/** What is used of an inlay hint of the protocol. */
export interface Hint {
  label: string | { value: string }[];
  tooltip?: string | { value: string };
}

/** `markdown` is the proof, condition by condition. */
export interface Status {
  text: string;
  markdown: string;
  warns: boolean;
}

const LABEL = /^scan: (static|runtime|none|unknown)( \(meant\))?$/;
const TEXTS: Record<string, string> = {
  static: "$(check) MERGE: static",
  runtime: "$(check) MERGE: runtime",
  none: "$(warning) MERGE: full scan",
  unknown: "$(question) MERGE: unknown",
};

/** Return what the status bar shows for a file with these hints; undefined where none is a verdict. */
export function statusOf(hints: readonly Hint[]): Status | undefined {
  for (const { label, tooltip } of hints) {
    const [, verdict, meant] = LABEL.exec(typeof label === "string" ? label : label.map((part) => part.value).join("")) ?? [];
    if (verdict === undefined) continue;
    const text = meant === undefined ? (TEXTS[verdict] ?? verdict) : "$(check) MERGE: full scan";
    const markdown = typeof tooltip === "string" ? tooltip : (tooltip?.value ?? "");
    return { text, markdown, warns: verdict === "none" && meant === undefined };
  }
  return undefined;
}
