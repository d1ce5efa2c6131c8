// Processes whose output the extension reads.
import { execFile } from "node:child_process";

export interface Outcome {
  /** The exit status; undefined where it did not start, or took too long. */
  status: number | undefined;
  output: string;
  errors: string;
}

/** For Python 3.11 and newer: a module in the folder of the project, such as a `calendar.py`, takes the place of none that is imported. */
export const ENVIRONMENT = { PYTHONSAFEPATH: "1" };

/** Run a program without a shell, in a folder, for 30 seconds at most. */
export function run(command: string, given: readonly string[], folder: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...process.env, ...ENVIRONMENT }, timeout: 30_000, maxBuffer: 16 << 20 };
    execFile(command, [...given], options, (error, output, errors) => {
      const code = error === null ? 0 : error.code;
      resolve({ status: typeof code === "number" ? code : undefined, output, errors });
    });
  });
}
