// The entry in the status bar: the verdict of the MERGEs in the current file.

export type Verdict = "static" | "runtime" | "none" | "unknown";

/** A MERGE of a document; `line` counts from 0, as the protocol does. `meant`: the model says `scan: full`. */
export interface MergeVerdict {
  verdict: Verdict;
  meant: boolean;
  target: string;
  line: number;
}

/** The request of the server, with the document; it answers with a list of `MergeVerdict`. */
export const VERDICTS = "merge-runner/verdicts";

export interface Status {
  text: string;
  tooltip: string;
  warns: boolean;
}

/** Worst first: the entry shows the first that occurs. */
const MEANINGS: [Verdict | "meant", string, string][] = [
  ["none", "$(warning) MERGE: full scan", "the whole target is scanned"],
  ["unknown", "$(question) MERGE: unknown", "it depends on a layout or an expression that lint cannot know"],
  ["runtime", "$(check) MERGE: runtime", "files are skipped by values that are read from the source when it runs"],
  ["meant", "$(check) MERGE: full scan", "the whole target is scanned, as the model says with scan: full"],
  ["static", "$(check) MERGE: static", "files are skipped by the text alone"],
];

/** Return what the status bar shows for the MERGEs of a file; undefined where there are none. */
export function statusOf(merges: readonly MergeVerdict[]): Status | undefined {
  const kinds = merges.map((merge) => (merge.meant ? "meant" : merge.verdict));
  const worst = MEANINGS.find(([kind]) => kinds.includes(kind));
  if (worst === undefined) return undefined;
  const [kind, text] = worst;
  const same = kinds.filter((each) => each === kind).length;
  const lines = merges.map(({ line, target, verdict }, at) => {
    const meaning = MEANINGS.find(([each]) => each === kinds[at])?.[2];
    return `Line ${line + 1}, ${target}: ${verdict} (${meaning})`;
  });
  return { text: merges.length === 1 ? text : `${text} (${same} of ${merges.length})`, tooltip: lines.join("\n"), warns: kind === "none" };
}
