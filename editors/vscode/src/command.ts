// The command lines that run in the terminal.
import * as path from "node:path";
import type { Candidate } from "./interpreter";

export type Action = "lint" | "build" | "test" | "explain" | "compile";
export const ACTIONS: readonly Action[] = ["lint", "build", "test", "explain", "compile"];

/** A process: no shell reads it, so nothing is quoted. */
export interface CommandLine {
  command: string;
  arguments: string[];
  folder: string;
}

/**
 * Return what runs `action` for a file of the project at `root`. A model has the name of its file.
 * A code lens of the server gives the whole command line of merge-runner: `given`.
 */
export function commandLine(server: Candidate, action: Action, file: string, root: string, given: readonly string[] = []): CommandLine {
  const what = action === "lint" ? [path.relative(root, file)] : ["--select", path.parse(file).name];
  return { command: server.command, arguments: [...server.arguments, ...(given.length > 0 ? given : [action, ...what])], folder: root };
}
