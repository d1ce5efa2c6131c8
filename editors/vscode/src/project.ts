// What a pyproject.toml says of a project, as far as the extension has to know it.
import * as path from "node:path";

/** A folder with `[tool.merge-runner]`; `yamlFolders` are those of its models, macros and seeds, with `/`. */
export interface Project {
  root: string;
  yamlFolders: string[];
}

const TABLE = /^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*["']?merge-runner["']?[ \t]*[\].]/m;
const DEFAULTS = { model: "models", macro: "macros", seed: "seeds" };

/** Return the project of a pyproject.toml at `file` with this `text`; undefined where it configures none. */
export function projectOf(file: string, text: string): Project | undefined {
  if (!TABLE.test(text)) return undefined;
  const yamlFolders = Object.entries(DEFAULTS).flatMap(([kind, folder]) => {
    const listed = new RegExp(`^[ \\t]*${kind}-paths[ \\t]*=[ \\t]*\\[([^\\]]*)\\]`, "m").exec(text)?.[1];
    return listed === undefined ? [folder] : [...listed.matchAll(/"([^"]*)"|'([^']*)'/g)].map((each) => each[1] ?? each[2] ?? "");
  });
  return { root: path.dirname(file), yamlFolders };
}

/** Return the nearest project around a file. */
export function projectAround(file: string, projects: readonly Project[]): Project | undefined {
  return projects
    .filter((project) => within(project.root, file) !== undefined)
    .sort((a, b) => b.root.length - a.root.length)[0];
}

const BY_NAME: Record<string, string> = { "selectors.yml": "selectors", "profiles.yml": "profiles", "catalog.yml": "catalog" };

/** Return the name of the schema (`merge-runner schema NAME`) of a YAML file of a project; undefined where it has none. */
export function schemaOf(file: string, project: Project): string | undefined {
  const relative = within(project.root, file);
  if (relative === undefined || !/\.ya?ml$/.test(relative)) return undefined;
  if (Object.hasOwn(BY_NAME, relative)) return BY_NAME[relative];
  return project.yamlFolders.some((folder) => relative.startsWith(`${folder.replace(/\/+$/, "")}/`)) ? "properties" : undefined;
}

function within(root: string, file: string): string | undefined {
  const relative = path.relative(root, file);
  return relative.startsWith("..") || path.isAbsolute(relative) ? undefined : relative.split(path.sep).join("/");
}
