// The entry in the status bar: the verdict of the MERGEs in the current file.

export type Verdict = "static" | "runtime" | "none" | "unknown";

/** A MERGE of a document; `line` counts from 0, as the protocol does. */
export interface MergeVerdict {
  verdict: Verdict;
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
const MEANINGS: [Verdict, string, string][] = [
  ["none", "$(warning) MERGE: full scan", "the whole target is scanned"],
  ["unknown", "$(question) MERGE: unknown", "it depends on a layout or an expression that lint cannot know"],
  ["runtime", "$(check) MERGE: runtime", "files are skipped by values that are read from the source when it runs"],
  ["static", "$(check) MERGE: static", "files are skipped by the text alone"],
];

/** Return what the status bar shows for the MERGEs of a file; undefined where there are none. */
export function statusOf(merges: readonly MergeVerdict[]): Status | undefined {
  const worst = MEANINGS.find(([verdict]) => merges.some((merge) => merge.verdict === verdict));
  if (worst === undefined) return undefined;
  const [verdict, text] = worst;
  const same = merges.filter((merge) => merge.verdict === verdict).length;
  const lines = merges.map((merge) => {
    const meaning = MEANINGS.find(([each]) => each === merge.verdict)?.[2] ?? merge.verdict;
    return `Line ${merge.line + 1}, ${merge.target}: ${merge.verdict} (${meaning})`;
  });
  return { text: merges.length === 1 ? text : `${text} (${same} of ${merges.length})`, tooltip: lines.join("\n"), warns: verdict === "none" };
}
