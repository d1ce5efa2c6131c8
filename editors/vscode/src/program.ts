// Processes whose output the extension reads.
import { execFile } from "node:child_process";

export interface Outcome {
  /** The exit status; undefined where it did not start, or took too long. */
  status: number | undefined;
  output: string;
  errors: string;
}

/** Python 3.11 and newer: no module in the folder of a project, such as a `calendar.py`, takes the place of one that is imported. */
export const SAFE_PATH = { PYTHONSAFEPATH: "1" };

/** The environment of merge-runner. */
export const ENVIRONMENT: NodeJS.ProcessEnv = { ...process.env, ...SAFE_PATH };

/** Run a program without a shell, in a folder, for 30 seconds at most. */
export function run(command: string, given: readonly string[], folder: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: ENVIRONMENT, timeout: 30_000, maxBuffer: 16 << 20 };
    execFile(command, [...given], options, (error, output, errors) => {
      const code = error === null ? 0 : error.code;
      resolve({ status: typeof code === "number" ? code : undefined, output, errors });
    });
  });
}
