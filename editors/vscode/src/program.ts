// Processes whose output the extension reads.
import { execFile } from "node:child_process";

export interface Outcome {
  /** The exit status; undefined where it did not start, or took too long. */
  status: number | undefined;
  output: string;
  errors: string;
}

/** Run a program without a shell, in a folder, for 30 seconds at most. */
export function run(command: string, given: readonly string[], folder: string): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(command, [...given], { cwd: folder, timeout: 30_000, maxBuffer: 16 << 20 }, (error, output, errors) => {
      const code = error === null ? 0 : error.code;
      resolve({ status: typeof code === "number" ? code : undefined, output, errors });
    });
  });
}
