// The command lines that run in the terminal.
import * as path from "node:path";
import type { Candidate } from "./interpreter";

export type Action = "lint" | "build" | "test" | "explain";
export const ACTIONS: readonly Action[] = ["lint", "build", "test", "explain"];

/** A process: no shell reads it, so nothing is quoted. */
export interface CommandLine {
  command: string;
  arguments: string[];
  folder: string;
}

/** The argument of the command of a code lens: what merge-runner is given in a folder, and where the lens is. */
export interface Asked {
  root: string;
  arguments: string[];
  at?: { position: { line: number; character: number } };
}

/** Return what runs an action for a file of the project at `root`. A model has the name of its file. */
export function asking(action: Action, file: string, root: string): Asked {
  return { root, arguments: [action, ...(action === "lint" ? [path.relative(root, file)] : ["--select", path.parse(file).name])] };
}

export function commandLine(server: Candidate, asked: Asked): CommandLine {
  return { command: server.command, arguments: [...server.arguments, ...asked.arguments], folder: asked.root };
}
