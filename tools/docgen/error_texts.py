"""What every error code means and what to do about it, by subject. A test compares the codes with those of the code."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Meaning(NamedTuple):
    """The text of one code."""

    means: str
    to_do: str


_FILES = {
    "no-project": Meaning(
        "There is no pyproject.toml with `[tool.merge-runner]` in the folder or above it.",
        "Run `merge-runner init NAME`, or pass `--project-dir`.",
    ),
    "no-such-file": Meaning("A path of the command line does not exist.", "Correct the path."),
    "no-merge": Meaning("`import` found no MERGE in its paths.", "Name files with MERGEs, or folders of them."),
    "unknown-package": Meaning(
        "An entry of packages.yml is no package that can be installed.", "Write `git` and `revision`, or `local`."
    ),
    "unpinned-package": Meaning(
        "A package of a repository has no revision, and would change by itself.", "Add a tag or commit as `revision`."
    ),
    "missing-package": Meaning("A package is declared and not installed.", "Run `merge-runner deps`."),
    "changed-package": Meaning(
        "The files of an installed package are not those that packages.lock has.", "Run `merge-runner deps`."
    ),
    "unsafe-package": Meaning(
        "A path of a package leads out of its folder, or a file of it is a link, a pipe or a device.",
        "Write a relative path without `..`; a package has regular files in its own folder alone.",
    ),
    "unsafe-folder": Meaning(
        "A folder that a command empties and writes is a link or a file.", "Remove it: the command makes the folder."
    ),
    "bad-lock": Meaning("packages.lock cannot be read.", "Remove it, and run `merge-runner deps`."),
    "package-failed": Meaning(
        "A package cannot be installed: the message says why.", "Correct its entry in packages.yml."
    ),
    "no-dbt-project": Meaning(
        "`import dbt` found no dbt_project.yml with a name in the folder.", "Name the folder of a dbt project."
    ),
    "not-imported": Meaning(
        "`import` makes no model of a MERGE that cannot be read, or of a model of dbt that is no MERGE.",
        "Correct it, or write its model by hand.",
    ),
    "unknown-adapter": Meaning(
        "dbt's adapter decides whether models are merged or appended, and neither a manifest nor a profile names it.",
        "Name it: `merge-runner import dbt DIR --to NEW --adapter databricks`.",
    ),
    "decide": Meaning(
        "Rows of an imported model depend on what its author has to decide; import_report.md lists all decisions.",
        "Look at the place in the dbt project, and correct the new model.",
    ),
    "no-such-folder": Meaning(
        "A folder of `model-paths`, `macro-paths`, `test-paths` or `seed-paths` does not exist.", "Create or remove it."
    ),
    "missing-extra": Meaning(
        "A command needs a package that is not installed.", "Install the extra that the message names."
    ),
    "unsupported-system": Meaning(
        "Builds need the file locks of Linux or macOS, which Windows does not have.",
        "Run it in WSL 2 or in a container. Lint and all that reads a project works on Windows.",
    ),
    "unreadable": Meaning("A file or folder cannot be read.", "Check that it exists and your permissions."),
    "not-utf8": Meaning("A file is not encoded in UTF-8.", "Save it as UTF-8."),
    "outside": Meaning(
        "A link or a path leads out of the project and its repository (the nearest folder upwards with `.git`), or to "
        "what is hidden there: nothing is read or written there.",
        "Remove the link, or copy what it leads to. A file that you name on the command line may be anywhere.",
    ),
    "not-a-file": Meaning(
        "A pipe, a device, a socket or a folder is in place of a file.", "Replace it by a file, or remove it."
    ),
    "too-large": Meaning(
        "A file is larger than 64 MB, an artifact such as manifest.json larger than 512 MB, or a text in an editor has "
        "more than 2,000,000 characters.",
        "Make it smaller, or set the environment variable `MERGE_RUNNER_MAX_FILE_MB`. Of a text in an editor "
        "`merge-runner lint FILE` looks at the file.",
    ),
    "symlink-loop": Meaning(
        "A symbolic link leads back to a folder that contains it, or to one that another link leads to.",
        "Remove the link.",
    ),
    "invalid-name": Meaning(
        "A file, alias or schema cannot name a node, a table or a folder.",
        "Use letters, digits and underscores; do not begin with a digit.",
    ),
    "bad-name": Meaning(
        "`init` got a name that no project can have.", "Use letters, digits and underscores; begin with a letter."
    ),
    "duplicate-name": Meaning(
        "Two things have the same name: nodes, descriptions, selectors, docs blocks or tables of a layout file.",
        "Rename or remove one of them.",
    ),
    "shared-table": Meaning(
        "Two nodes are the same table, and they are not both merges.", "Give one of them another `alias` or `schema`."
    ),
    "not-cloned": Meaning(
        "`clone` cannot make a clone of the table: its format has none, or it is the table of --state itself.",
        "Leave it out, or clone into another target.",
    ),
    "not-compared": Meaning(
        "`diff` has no other state of the table: no such version, branch or model, or both are the same table.",
        "Compare with a state that is there; targets need a `schema` each.",
    ),
    "new-table": Meaning(
        "`build --diff` has no version of a table from before the run, which has made it.",
        "Nothing: a new table is not compared.",
    ),
    "no-key": Meaning(
        "`diff --tolerance` has no key by which rows could be brought together.",
        "Name it by `--key`, or give the model a `unique_key`.",
    ),
    "sampled-run": Meaning(
        "A run with `--empty` or `--sample` would write a table with rows of another run, or consume changes.",
        "Build into a separate schema, by another `--target`; leave a model that reads changes out.",
    ),
    "sampled-table": Meaning(
        "The table has rows of a run with `--empty` or `--sample`, and an ordinary run would add to them.",
        "Build it with `--full-refresh`, or drop it.",
    ),
    "unknown-columns": Meaning(
        "A macro asks for the columns of a table, and text and YAML do not say all of them.",
        "Declare them in YAML with `data_type`, or let `debug --write-catalog` record them.",
    ),
    "no-pattern": Meaning(
        "`eject` got a model that calls no macro of a package, such as merge_patterns, in its file.",
        "Name a model whose file calls one; what a macro of the project calls is not ejected.",
    ),
    "not-ejected": Meaning(
        "`eject` cannot write out the MERGE so that the model means the same in every run: the message says why.",
        "Write that part of the statement yourself, or leave the call as it is.",
    ),
    "folder-not-empty": Meaning("`init` got a folder that already has files.", "Name a new or an empty folder."),
    "file-exists": Meaning(
        "`test --generate`, `import` or `init --agents` found a file that it would write.",
        "Extend the file by hand, move it away, or name another folder.",
    ),
    "file-system": Meaning(
        "The operating system refused to read or write a file: full disk, no permission, too many open files.",
        "Solve what the message names, then `merge-runner retry`.",
    ),
    "unwritable": Meaning("The recorded catalog cannot be written.", "Check the folder and your permissions."),
    "clean-outside": Meaning(
        "`clean` refuses to remove a target folder that is outside of the project or contains its files.",
        "Set `target-path` to a separate folder in the project.",
    ),
    "invalid-target-path": Meaning(
        "`--target-path` is the project's folder or one above it, or the project's own target folder is a link, in a "
        "linked folder, or in `.git`.",
        "Name a separate folder for generated files, or remove the link.",
    ),
    "not-read": Meaning(
        "A file, folder or key of a dbt project that merge-runner does not read; a note, not an error.",
        "Follow the advice of the message, or ignore it.",
    ),
    "withheld-variable": Meaning(
        "An environment variable that a template reads has no value where nothing runs, since it is a secret by its "
        "name, or counts as not set, since `MERGE_RUNNER_ENV_ALLOW` does not list it; a note, not an error.",
        "Nothing for a secret: a run gets it. List a variable that the project may read in `MERGE_RUNNER_ENV_ALLOW`.",
    ),
    "docs-block": Meaning(
        "A `{% docs %}` block has no name, no start or no end.", "Write `{% docs name %} … {% enddocs %}`."
    ),
    "unknown-doc": Meaning(
        "`doc('name')` names a docs block that does not exist.", "Correct the name, or add the block."
    ),
}

_CONFIGURATION = {
    "toml-syntax": Meaning("pyproject.toml is not valid TOML.", "Correct the text at the reported position."),
    "yaml-syntax": Meaning("A file is not valid YAML.", "Correct the text at the reported position."),
    "yaml-too-deep": Meaning("YAML is nested too deeply.", "Flatten it."),
    "yaml-too-large": Meaning("The aliases of a YAML file expand to too many values.", "Use fewer aliases."),
    "several-documents": Meaning("A YAML file has a second document (`---`).", "Keep one document per file."),
    "unknown-tag": Meaning("A YAML tag (`!name`) is not supported.", "Write the value without the tag."),
    "unknown-alias": Meaning("A YAML alias (`*name`) has no anchor before it.", "Add the anchor, or correct the name."),
    "invalid-key": Meaning("A YAML key is a list or mapping.", "Quote a text that contains `{{ }}`."),
    "unknown-key": Meaning(
        "A key does not exist where it is written.",
        "Use the name that the message suggests; see [configuration](configuration.md) and [YAML](yaml.md).",
    ),
    "missing-key": Meaning("A required key is missing.", "Add it."),
    "duplicate-key": Meaning("A key is written twice in one place, perhaps in two spellings.", "Keep one of them."),
    "duplicate-column": Meaning("A column is described twice; case makes no difference.", "Keep one of them."),
    "duplicate-test": Meaning("The same data test is declared twice on one column or node.", "Remove one of them."),
    "duplicate-default": Meaning("Several selectors have `default: true`.", "Keep one of them."),
    "invalid-value": Meaning(
        "A value is not of the type or the choices of its key.", "Write what the message asks for."
    ),
    "invalid-config": Meaning(
        "`meta.merge_runner` of a dbt model has an invalid value.", "Write `meta: {merge_runner: {scan: full}}`."
    ),
    "value-jinja": Meaning(
        "The Jinja of a YAML value cannot be rendered: it is invalid, or uses what values may not.",
        "Keep to `var`, `env_var`, `target` and `doc`; compute in a macro.",
    ),
    "missing-env-var": Meaning(
        "`env_var` names a variable that is not set.", "Set it, or give a default: `env_var('NAME', 'default')`."
    ),
    "undefined-var": Meaning(
        "`var` names a variable that is neither declared nor given.",
        "Pass it by `--vars`, or declare it in `[tool.merge-runner.vars]`.",
    ),
    "invalid-vars": Meaning(
        "`--vars` is not a mapping, or a value is not of the type that the project declares.",
        "Write `--vars 'name: value'` with a value of that type.",
    ),
    "invalid-args": Meaning("`--args` is not a mapping.", "Write `--args 'name: value'`."),
    "unread-var": Meaning("`--vars` sets a variable that no file reads; a warning.", "Correct its name, or remove it."),
    "no-profiles": Meaning("profiles.yml was not found.", "Write it in the project, or pass `--profiles-dir`."),
    "unknown-profile": Meaning("profiles.yml has no profile of this name.", "Correct `profile` or `--profile`."),
    "unknown-target": Meaning("The profile has no output of this name.", "Correct `target` or `--target`."),
    "overlapping-paths": Meaning(
        "One of the project's folders contains another, or the target folder contains files of the project.",
        "Name separate folders.",
    ),
    "unknown-folder": Meaning(
        "A key of `[tool.merge-runner.models]` or `.seeds` is neither a folder nor a config key.", "Correct the key."
    ),
    "unknown-model": Meaning("A command or a YAML file names a model that does not exist.", "Correct the name."),
    "unknown-lineage-column": Meaning(
        "`merge-runner lineage` names a column that the table does not have, or that is not known of it.",
        "Correct the name, or declare the columns of the table in YAML.",
    ),
    "ephemeral-lineage": Meaning(
        "`merge-runner lineage` names an ephemeral model, which has no table of its own: lineage goes through it.",
        "Name a model that reads it.",
    ),
    "unknown-seed": Meaning("A YAML file describes a seed that does not exist.", "Correct the name."),
    "unknown-test": Meaning(
        "A data test has no built-in test and no `{% test %}` block of its name.",
        "Correct the name, or write the test.",
    ),
    "unknown-fixture": Meaning(
        "A unit test names a fixture that does not exist.", "Write it as `tests/fixtures/NAME.csv` or `.sql`."
    ),
    "reserved-name": Meaning("A macro or test has the name of a built-in one.", "Rename it."),
    "iceberg-key": Meaning(
        "A config key that only merges into Iceberg tables have (`sort_by`, `storage_join`) is set elsewhere.",
        "Remove it, or set `format: iceberg`.",
    ),
    "unknown-type": Meaning(
        "Spark has no type of the name that `data_type` of a column gives; a warning.",
        "Use the name that the message suggests.",
    ),
    "no-effect": Meaning(
        "`partition_by` or `cluster_by` of a view or ephemeral model; a warning.",
        "Remove it, or make the model a table or a MERGE.",
    ),
    "never-incremental": Meaning(
        "`is_incremental()` is called in a model without a MERGE, where it is always false; a warning.",
        "Write the model as a MERGE.",
    ),
    "config-by-run": Meaning(
        "A `config(…)` value depends on `is_incremental()` or on what a query returns, known only when the model runs.",
        "Configure all runs alike; a hook may call `is_incremental()` and `run_query`.",
    ),
    "optimize": Meaning(
        "The config key `optimize` asks for what the table cannot do: Z-order of clustering or partition columns, "
        "`where` without partitions.",
        "Change `optimize` as the message says.",
    ),
    "freshness": Meaning("`freshness` is set on a stream.", "Remove it."),
    "broken-contract": Meaning(
        "The columns of a model with an enforced contract differ from the declared ones, or no contract can apply.",
        "Correct the declaration or the query, or alter the table; nothing was written.",
    ),
    "broken-batches": Meaning(
        "A key of batches without the others that it needs, or on a model that cannot run in batches.",
        "Give `batch_size`, `event_time` and `begin` together, on a merge model.",
    ),
    "secret-is-kept": Meaning(
        "A text that is stored in a table (a property, comment, view or constraint) contains a secret.",
        "Join with a table of secrets, or use the secret only in a query that does not output it.",
    ),
}

_TEMPLATES = {
    "jinja-syntax": Meaning("A Jinja tag is not valid.", "Correct it at the reported position."),
    "jinja-runtime": Meaning(
        "Jinja cannot be evaluated: wrong arguments, a value of a wrong type, or something that the sandbox forbids.",
        "Correct the expression that the message names.",
    ),
    "asks-engine": Meaning(
        "A text depends on what a query returns, where no query runs, as in a unit test.",
        "Build the model, which is rendered in its turn; in a unit test override the macro that asks.",
    ),
    "undefined-name": Meaning(
        "Jinja uses a name, macro, filter or attribute that does not exist.", "Correct the name, or define it."
    ),
    "unknown-macro": Meaning("`run-operation` names a macro that the project does not have.", "Correct the name."),
    "raised": Meaning("The project's own template called `exceptions.raise_compiler_error`.", "Do what its text says."),
    "recursion": Meaning("Macros call each other without an end.", "Give the innermost call a condition."),
    "render-limit": Meaning(
        "Rendering takes too long or produces too much text.", "Look for an endless loop; produce less."
    ),
    "duplicate-macro": Meaning("Two macros have the same name.", "Rename one of them."),
}

_GRAPH = {
    "unknown-ref": Meaning("`ref` names a model or seed that does not exist.", "Correct the name."),
    "disabled-ref": Meaning("`ref` names a disabled model.", "Enable it, or remove the `ref`."),
    "unknown-source": Meaning("`source` names a table that no YAML file declares.", "Declare it, or correct the name."),
    "cycle": Meaning("Models depend on each other in a circle.", "Remove one of the refs."),
    "stream-reader": Meaning(
        "A model that reads a stream is a view or table, or reads two streams.",
        "Write it as a MERGE or an ephemeral model that reads one stream.",
    ),
    "changes-refused": Meaning(
        "`changes()` is called outside of a merge model, or of what has no Change Data Feed: a view, an Iceberg table.",
        "Call it in a merge model, for a Delta table; else use `ref()`.",
    ),
    "changes-twice": Meaning(
        "A model reads the changes of two tables, or two runs of a model consumed the same changes concurrently.",
        "Read one change feed per model, let one run at a time write the table, and rebuild it by `--full-refresh`.",
    ),
    "not-a-merge": Meaning(
        "The text of a merge model is not one MERGE that Spark parses, or it writes another table.",
        "Write `merge into {{ this }} …` as the only statement.",
    ),
    "not-a-query": Meaning("The text of a table, view or ephemeral model is not a query.", "Write a SELECT."),
    "no-branches": Meaning(
        "`--branch` was given, and a selected node writes a table that has no branches (Delta).",
        "Exclude it, or set `format: iceberg`.",
    ),
    "iceberg-catalog": Meaning(
        "An Iceberg table belongs to no catalog, or to one of several, or a Delta table to a catalog of Iceberg's.",
        "Add a catalog to the profile (`catalogs: {ice: {type: embedded}}`), or name one in `schema`.",
    ),
    "iceberg-path": Meaning(
        "A source names an Iceberg table by `path`.", "Name it by `catalog`, `schema` and `identifier`."
    ),
    "unit-test": Meaning(
        "A unit test is invalid: an input is missing, or a row does not fit its table.", "Correct it at its position."
    ),
    "no-unit-tests": Meaning(
        "`test --mutate` names a model without unit tests.", "Write one; `test --generate` helps."
    ),
}

_SELECTION = {
    "unknown-group": Meaning(
        "A model has a `group` that no YAML file declares.", "Declare it below `groups:`, or correct the name."
    ),
    "private-model": Meaning(
        "A model refers to one that is private to another group, or a private model is in no group.",
        "Put both into one group, or make the model `protected`.",
    ),
    "unknown-analysis": Meaning(
        "YAML describes an analysis, and there is no file of that name.",
        "Correct the name, or write the query into a file of `analysis-paths`.",
    ),
    "bad-exposure": Meaning(
        "An entry of `depends_on` of an exposure is no call.", "Write `ref('model')` or `source('name', 'table')`."
    ),
    "bad-selection": Meaning("A selection is not valid.", "See [selection](selection.md)."),
    "unknown-selector-method": Meaning("A selection uses a method that does not exist.", "Use one that is listed."),
    "unknown-selector": Meaning("`--selector` or `selector:` names none of selectors.yml.", "Correct the name."),
    "selector-cycle": Meaning("A selector selects by itself.", "Remove one of the references."),
    "select-and-selector": Meaning("`--select` and `--selector` are both given.", "Give one of them."),
    "nothing-selected": Meaning(
        "A selection, or part of it, matches no enabled node; or the command runs none of the kinds that it matches.",
        "Check it by `merge-runner ls -s …`.",
    ),
    "no-state": Meaning(
        "`state:`, `result:` or `--defer` needs the artifacts of an earlier run, and they are missing.",
        "Pass their folder as `--state`.",
    ),
    "bad-state": Meaning("The artifacts in the folder of `--state` cannot be read.", "Name a folder that a run wrote."),
    "no-git": Meaning("`git:` needs git, which cannot be started.", "Install git, or select by `state:`."),
    "no-git-repository": Meaning("`git:` is used outside of a git repository.", "Run it in a clone."),
    "bad-git-ref": Meaning("The revision of `git:` is not valid.", "Name a branch, a tag or a commit."),
    "unknown-git-ref": Meaning(
        "git does not know the commit.", "Fetch it: a shallow clone lacks older commits (`fetch-depth: 0`)."
    ),
    "git-failed": Meaning("A git command failed.", "Run it by hand in the project's folder."),
    "deleted-properties": Meaning(
        "A property file was deleted since the commit, and which nodes it described is not known; a warning.",
        "Use `state:modified` with an earlier manifest.",
    ),
}

_LINT = {
    "unknown-rule": Meaning(
        "No rule has this code or name.", "See `merge-runner rule`, or [the rules](rules/README.md)."
    ),
    "invalid-rule": Meaning(
        "A package that provides lint rules cannot be imported, or a module in it is no rule.",
        "Mend or uninstall the package; see [custom rules](../guides/custom-rules.md).",
    ),
    "rule-failed": Meaning(
        "A lint rule of another package raised an exception.",
        "Report it to the package's authors; `ignore` leaves the rule out.",
    ),
    "no-manifest": Meaning(
        "An orchestrator's integration found no manifest.json, or cannot read it.", "Write it by `merge-runner parse`."
    ),
    "no-executable": Meaning(
        "An orchestrator's integration cannot start merge-runner.",
        "Install merge-runner for the user of its workers, or name the executable.",
    ),
    "missing-baseline": Meaning("The baseline file does not exist.", "Write it by `lint --write-baseline`."),
    "bad-baseline": Meaning("The baseline file is not valid.", "Write it again by `lint --write-baseline`."),
    "stale-manifest": Meaning(
        "Models of a dbt project changed since its manifest was written; a warning.", "Run `dbt parse`, and lint again."
    ),
}

_START = {
    "no-java": Meaning(
        "No Java was found that the installed line of Spark runs on.", "Install one, or set `JAVA_HOME`."
    ),
    "jar-download": Meaning(
        "A jar could not be fetched.", "Check the network, or set `MERGE_RUNNER_MAVEN_URL` to a mirror."
    ),
    "jar-checksum": Meaning("A fetched jar is not the one that is pinned; it was not kept.", "Check the Maven mirror."),
    "spark-not-started": Meaning(
        "Spark did not start, or the Spark Connect server did not answer.",
        "Read the cause and the log that the message names; `merge-runner debug --spark` tries it alone.",
    ),
    "spark-version": Meaning(
        "The Spark of `SPARK_HOME` or of PySpark is none of 3.5, 4.0, 4.1, 4.2 and 4.3, or the two differ.",
        "Unset `SPARK_HOME`, or install the other Spark.",
    ),
    "no-runtime": Meaning(
        "A table format or a connector has no build for the installed line of Spark.",
        "Install another line, as `merge-runner[spark41]`, or leave out the catalog that needs it.",
    ),
    "spark-defaults": Meaning(
        "spark-defaults.conf cannot be read, or contradicts the profile about where tables are.",
        "Write it into the output of profiles.yml, as the message says.",
    ),
    "connect-missing": Meaning(
        "Python packages of Spark Connect or Databricks Connect are missing.", "Install what the message names."
    ),
    "connect-metadata": Meaning(
        "The compute of Databricks does not take the conf by which commits are stamped; a retry finds them by it.",
        "Run the models on a cluster.",
    ),
    "jars-missing": Meaning(
        "The output says `jars: provided`, or Spark was started by other code, and a table format has no jar there.",
        "Name the jar in `spark.jars`, or leave `jars` out of the output.",
    ),
    "jars-version": Meaning(
        "A jar of a table format is built for another Spark or Scala than the one that starts.",
        "Take the build for that Spark: `merge-runner debug` names both.",
    ),
    "submitted-master": Meaning(
        "spark-submit was given another kind of master than the output has.",
        "Write the master of spark-submit into the output.",
    ),
    "connect-iceberg": Meaning(
        "Iceberg on a Spark Connect server of Spark 3.5 records no commit metadata; a retry finds commits by it.",
        "Run the models with `master`, or on a server of Spark 4.0 or newer.",
    ),
    "connect-warehouse": Meaning(
        "An output with `remote` has a `warehouse`.", "Remove it: the server's catalog keeps the tables."
    ),
    "storage": Meaning(
        "Something that runs do in the object store of the warehouse does not work there.",
        "The message has the operation and what the store answered: check keys, bucket and `storage` of the output.",
    ),
    "no-put-if-absent": Meaning(
        "The object store ignores If-None-Match, so that two writers would overwrite each other's commits.",
        "Keep the tables in a store with conditional writes, or Iceberg tables in a catalog that decides commits.",
    ),
    "no-store": Meaning("The container or bucket of the warehouse does not exist.", "Create it, or correct its name."),
    "no-catalog": Meaning("The file of an embedded catalog cannot be used.", "Check the folder and your permissions."),
    "no-archive": Meaning(
        "A program calls `make_archive`, which is withdrawn.",
        "Build with `MERGE_RUNNER_CDS=1`: the build writes the AppCDS archive, and waits for it.",
    ),
    "warm-busy": Meaning(
        "A warm driver with other settings is in use by a run.", "Wait for it, or `merge-runner warm stop`."
    ),
    "warm-not-started": Meaning("The warm driver did not start.", "Read the cause in the message."),
    "warm-remote": Meaning("`warm` has no use with Spark Connect.", "Nothing: the server is running anyway."),
}

_RUN = {
    "not-shown": Meaning(
        "`show` cannot know the rows of this MERGE without running it.",
        "Show its table by `--inline`, or build a copy of it in another target.",
    ),
    "missing-input": Meaning(
        "A table that a node reads has not been built yet.", "Build its model first (`-s +NODE`)."
    ),
    "other-location": Meaning(
        "The catalog of the Spark driver has a table of this name in another folder: that of another project or target "
        "which uses the same driver.",
        "Give each warehouse a driver of its own, or each target another `schema`.",
    ),
    "other-catalog": Meaning(
        "The Spark driver that was given has an embedded catalog of this name in another warehouse.",
        "Give each warehouse a driver of its own, or each catalog another name.",
    ),
    "missing-source": Meaning("The files of a source do not exist.", "Check its `path`, relative to the project."),
    "source-exists": Meaning(
        "The catalog has a table of a source's name that was not created from its `path`.",
        "Remove `path`, or give the source another `schema`.",
    ),
    "unknown-column": Meaning("A declared column is missing in the files or the query.", "Correct the declaration."),
    "no-columns": Meaning(
        "The table does not exist, and neither YAML nor the MERGE says which columns it has.",
        "Declare the columns with `data_type`.",
    ),
    "no-table-yet": Meaning(
        "A hook names the model's own table, which does not exist before the first run.",
        "Write `{% if is_incremental() %}` around it.",
    ),
    "history-lost": Meaning(
        "`--full-refresh` would lose rows that only the table has: USING reads the table itself.",
        "Set `full_refresh: false` to keep the table, `true` to replace it.",
    ),
    "schema-change": Meaning(
        "The table differs from the declared columns, and `on_schema_change` is `fail`; or it contradicts WITH SCHEMA "
        "EVOLUTION.",
        "Alter the table or the declaration; `append_new_columns` adds columns.",
    ),
    "retention": Meaning(
        "`--retain` is shorter than the retention that the table's properties declare.",
        "Give a longer `--retain`, or set a shorter retention in `properties`.",
    ),
    "duplicate-matches": Meaning(
        "Several source rows match one target row (ambiguous match); nothing is committed.",
        "Keep one source row for each key, by `row_number()` or GROUP BY.",
    ),
    "source-not-unique": Meaning(
        "`expect_merge.unique_source`: several source rows have one key; nothing is committed.",
        "Keep one source row for each key in USING.",
    ),
    "not-accepted": Meaning(
        "An agent called a tool of `merge-runner mcp` that would write, or run, what the person who started the server "
        "has not accepted: another model, or one whose guard, hooks or other config have changed.",
        "Look at the change; start the server again to accept it.",
    ),
    "not-permitted": Meaning(
        "A template executes a statement that may write, where it may only read, as over `merge-runner mcp`.",
        "Begin the statement with SELECT, VALUES, SHOW or DESCRIBE, or build the model in a terminal.",
    ),
    "expect-merge": Meaning(
        "The MERGE would exceed a limit of `expect_merge`, or is predicted to, and nothing is committed; or "
        "`expect_merge` cannot apply to the model.",
        "Check the source, or raise the limit.",
    ),
    "scan-budget": Meaning(
        "With the MERGEs before it, the MERGE is predicted to read more of the targets than `--max-scanned` allows; it "
        "did not run.",
        "Restrict the target in ON, or give a larger `--max-scanned`.",
    ),
    "expect-merge-committed": Meaning(
        "A committed MERGE exceeded `expect_merge`: the table or source changed between the count and the MERGE.",
        "Check the version that the message names; restore the table if it is wrong.",
    ),
    "mark-type": Meaning(
        "No literal is exactly the value that a source reads of its target, such as the maximum of a column of "
        "floating-point numbers.",
        "Nothing: the MERGE runs without a runtime filter. A cast in the subquery gives it one.",
    ),
    "expect-merge-conflict": Meaning(
        "Another writer committed while the MERGE ran on a branch, for `expect_merge` or since its source reads the "
        "target.",
        "Nothing: it is run again as often as `retries` allows.",
    ),
    "no-schema-evolution": Meaning(
        "A MERGE WITH SCHEMA EVOLUTION, on a line of Spark that has none for the format: it would lose columns.",
        "Add the columns before, as `on_schema_change: append_new_columns` does, or use a newer line.",
    ),
    "expect-merge-unknown": Meaning(
        "This Iceberg does not report the row counts that `expect_merge` needs; nothing is committed.",
        "Use Iceberg 1.12 on Spark 4.1, or remove the limit.",
    ),
    "branch-schema": Meaning(
        "A table or seed with other columns cannot be written to a branch: all branches have one schema.",
        "Build it once without `--branch`.",
    ),
    "batch-recorded": Meaning(
        "`--full-refresh` with a `--batch-id` that is lower than one that the table has committed.",
        "Pass that batch id or a higher one, or drop the table.",
    ),
    "batch-history": Meaning(
        "Which batches a table has committed is not known: the catalog of an Iceberg table (Nessie) keeps the newest "
        "snapshot alone, or the log of a Delta table would have to be asked over Spark Connect.",
        "Merge it without batches, streams and `changes()`, or use another catalog, or a `master`.",
    ),
    "batches-restored": Meaning(
        "A Delta table was restored after its last batch: its rows went back, and its record of batches did not.",
        "Run the batches that were undone with `--event-time-start`.",
    ),
    "batch-changed": Meaning(
        "Another run has committed a batch since this one found it to be due, so that its rows are not removed.",
        "Run the command again.",
    ),
    "catalog-managed": Meaning(
        "A Delta table has the feature `catalogManaged`: its newest commits may be in its catalog alone, and its log "
        "does not say what was committed.",
        "Build into a table without the feature. As a source such a table is read by Spark.",
    ),
    "changes-connect": Meaning(
        "`changes()` needs the table's log, which Spark Connect cannot read.", "Run on a `master`, or use `ref()`."
    ),
    "changes-off": Meaning(
        "The table has no Change Data Feed.", "Build its model, which sets `delta.enableChangeDataFeed`."
    ),
    "changes-of-another-table": Meaning(
        "The table whose changes were consumed was dropped and recreated.", "Rebuild the model by `--full-refresh`."
    ),
    "changes-restored": Meaning(
        "The model's table was restored to an older version: which changes it has consumed is not known.",
        "Rebuild the model by `--full-refresh`.",
    ),
    "changes-unknown": Meaning(
        "No snapshot of the model's table records which changes it has consumed.",
        "Rebuild the model by `--full-refresh`.",
    ),
    "changes-unreadable": Meaning(
        "The changes since the last run cannot be read: their files or versions are gone.",
        "Rebuild the model by `--full-refresh`.",
    ),
    "timeout": Meaning(
        "A node ran longer than its `timeout` and was cancelled; the message says what was committed.",
        "Raise `timeout`, or make the statement faster.",
    ),
    "cancelled": Meaning(
        "A node was cancelled by Ctrl-C, `--fail-fast` or the end of the run.", "`merge-runner retry` continues."
    ),
    "spark-stopped": Meaning("The Spark driver has stopped.", "`merge-runner retry` starts another one."),
    "driver-lost": Meaning(
        "The JVM of the driver ended or the connection to it broke.",
        "Read the cause in the message; `merge-runner retry` checks what the tables have.",
    ),
    "journal": Meaning("journal.jsonl cannot be written: nothing has run.", "Solve what the message names."),
    "address": Meaning(
        "`docs serve` cannot listen on its address.", "Pass another `--port` (0 takes any free one) or `--host`."
    ),
    "no-runs": Meaning("`report` finds no record of a run in the target folder.", "Run `merge-runner build` first."),
    "no-audit": Meaning(
        "`report --from-audit` for an output without an audit table.",
        "Name one: `audit: schema.table` in profiles.yml.",
    ),
    "no-docs": Meaning(
        "`docs serve` finds no page to serve, or a link in its place.", "Run `merge-runner docs generate` first."
    ),
    "no-comment": Meaning(
        "`post-comment` got a file that is no comment of `diff --pr`.",
        "`merge-runner diff --pr BASE > FILE` writes one.",
    ),
    "no-pull-request": Meaning(
        "`post-comment` runs in no CI job of a pull request or merge request.",
        "Run it on `pull_request` of GitHub, or on `merge_request_event` of GitLab.",
    ),
    "not-posted": Meaning(
        "The API of GitHub or GitLab could not be reached, or failed.", "Run the job again; the message has its answer."
    ),
    "no-run-results": Meaning("`retry` found no usable results of an earlier run.", "Run `merge-runner build` first."),
    "vars-not-kept": Meaning(
        "The last run had secrets in `--vars`, which are not stored.", "Pass them again: `merge-runner retry --vars …`."
    ),
    "node-gone": Meaning("A node of the last run is no longer in the project; a warning.", "Nothing."),
    "nothing-to-sample": Meaning(
        "`test --generate` found no rows in what the model reads.", "Build its inputs first (`-s +MODEL`)."
    ),
    "no-branch": Meaning(
        "`publish` found no table with this branch.", "Build it by `--branch NAME`; a published branch is dropped."
    ),
}

_STREAMS = {
    "no-stream": Meaning("No stream feeds the selected models.", "Set `stream:` on a table of a source."),
    "no-batch": Meaning("A node reads a stream outside of `merge-runner stream`.", "Run `merge-runner stream`."),
    "stream": Meaning(
        "A stream is configured wrongly, or Spark ended it by an error.",
        "Do what the message says, and start it again.",
    ),
    "stream-remote": Meaning("Streams do not run over Spark Connect.", "Give the output a `master`."),
    "stream-full-refresh": Meaning(
        "`--full-refresh` with a stream: rows that were read before would be missing.",
        "Drop the tables, and set another `checkpoint` and a higher `generation`.",
    ),
    "checkpoint": Meaning(
        "The checkpoint of a stream does not belong to its tables, or another stream wrote it.",
        "Bring back the right checkpoint, or set a new one and a higher `generation`.",
    ),
}

_OTHER = {
    "usage": Meaning("The command line is not valid.", "See `merge-runner COMMAND --help`."),
    "internal": Meaning(
        "A bug in merge-runner.", "Please report it, with the traceback that `-d` prints. `merge-runner debug` helps."
    ),
}

ERRORS: Mapping[str, Mapping[str, Meaning]] = MappingProxyType(
    {
        "Files and names": _FILES,
        "Configuration, YAML and profiles": _CONFIGURATION,
        "Jinja": _TEMPLATES,
        "Models and their dependencies": _GRAPH,
        "Selection": _SELECTION,
        "Lint": _LINT,
        "Starting Spark": _START,
        "Running": _RUN,
        "Streams": _STREAMS,
        "Everything else": _OTHER,
    }
)
"""The texts of all codes, by subject."""
