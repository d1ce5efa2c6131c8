// `node build.mjs` bundles the extension, `node build.mjs test` the tests.
import { copyFileSync, readdirSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", format: "cjs", logLevel: "warning" };

if (process.argv[2] === "test") {
  const entryPoints = readdirSync("test").filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`);
  // vscode-oniguruma finds its WebAssembly next to itself
  await build({ ...common, entryPoints, outdir: "dist/test", sourcemap: "inline", external: ["vscode-oniguruma"] });
} else {
  copyFileSync("../../LICENSE", "LICENSE");
  await build({ ...common, entryPoints: ["src/extension.ts"], outdir: "dist", minify: true, external: ["vscode"] });
}
