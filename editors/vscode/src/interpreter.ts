// Which program the server is: the candidates in their order, and which of them has merge-runner and its extra.
import * as path from "node:path";

/** Leaves out the working folder, the project, where Python looks for modules first: -P needs Python 3.11. */
const SAFE = "import sys; sys.path[:] = filter(None, sys.path); ";
/** As `-m merge_runner`. */
export const MODULE = ["-c", `${SAFE}import runpy; runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)`, "merge_runner"];

/** A program that may have merge-runner. `arguments` come before those of merge-runner; `origin` says where it is from. */
export interface Candidate {
  command: string;
  arguments: string[];
  origin: string;
}

/** What a candidate has: all of it, no extra `lsp`, no merge-runner, or it does not run at all. */
export type State = "ready" | "no extra" | "no merge-runner" | "does not run";

export interface Surroundings {
  setting: string;
  /** The interpreter that the Python extension has selected. */
  selected: string | undefined;
  folder: string;
  home: string;
  platform: NodeJS.Platform;
}

export interface Choice {
  server: Candidate | undefined;
  /** What is wrong where there is none, and what to do. */
  problem: string;
  log: string[];
}

/** Return the candidates, best first. A setting is the only one: what it names is meant. */
export function candidates(around: Surroundings): Candidate[] {
  const python = (command: string, origin: string): Candidate => ({ command, arguments: MODULE, origin });
  if (around.setting !== "") {
    const named = around.setting.replaceAll("${workspaceFolder}", around.folder).replace(/^~(?=[\\/]|$)/, around.home);
    return [python(named, "the setting merge-runner.interpreter")];
  }
  const inFolder = around.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"];
  return [
    ...(around.selected === undefined ? [] : [python(around.selected, "the Python extension")]),
    ...[".venv", "venv"].map((name) => python(path.join(around.folder, name, ...inFolder), `${name} of the workspace`)),
    { command: "merge-runner", arguments: [], origin: "PATH" },
    ...["python3", "python"].map((name) => python(name, "PATH")),
  ];
}

/** Return what asks a candidate for its state: `stateOf` reads the answer. */
export function question(candidate: Candidate): string[] {
  if (candidate.arguments.length === 0) return ["--version"];
  const names = '("merge_runner", "pygls")';
  return ["-c", `${SAFE}import importlib.util as u; print(*(u.find_spec(n) is not None for n in ${names}))`];
}

/** Return the state of a candidate by its exit status (undefined: it did not start) and output. */
export function stateOf(candidate: Candidate, status: number | undefined, output: string): State {
  if (status !== 0) return "does not run";
  if (candidate.arguments.length === 0) return "ready"; // `merge-runner lsp` reports a missing extra itself
  const [runner, pygls] = output.trim().split(/\s+/);
  if (runner !== "True") return "no merge-runner";
  return pygls === "True" ? "ready" : "no extra";
}

/** Return the first candidate that is ready, asking one after the other; else the problem of the one that comes nearest. */
export async function choose(all: readonly Candidate[], ask: (candidate: Candidate) => Promise<State>): Promise<Choice> {
  const log: string[] = [];
  const states = new Map<State, Candidate>();
  for (const candidate of all) {
    const state = await ask(candidate);
    log.push(`${candidate.command} (${candidate.origin}): ${state}`);
    if (state === "ready") return { server: candidate, problem: "", log };
    if (!states.has(state)) states.set(state, candidate);
  }
  return { server: undefined, problem: problemOf(states), log };
}

function problemOf(states: ReadonlyMap<State, Candidate>): string {
  const bare = states.get("no extra");
  if (bare !== undefined) {
    return `merge-runner in ${bare.command} has no language server. Install it: ${install(bare)}`;
  }
  const empty = states.get("no merge-runner");
  if (empty !== undefined) {
    return `merge-runner is not installed in ${empty.command} (${empty.origin}). Install it: ${install(empty)}`;
  }
  const broken = states.get("does not run");
  const which = broken === undefined ? "" : ` ${broken.command} (${broken.origin}) does not run.`;
  return `No Python interpreter with merge-runner was found.${which} Select one in the Python extension, or set merge-runner.interpreter.`;
}

function install(candidate: Candidate): string {
  return `${candidate.command} -m pip install 'merge-runner[lsp]'`;
}
