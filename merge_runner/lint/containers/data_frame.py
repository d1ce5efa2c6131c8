"""DataFrames in Python code as the relations of SQL that they are, as far as their chain of calls says."""

from __future__ import annotations

import ast

from merge_runner.formats.registry import capabilities, table_format_of
from merge_runner.lint.containers.call_chain import Chain, Link
from merge_runner.lint.containers.column_expressions import column_name, identifier, sql_of
from merge_runner.lint.containers.pieced_text import PiecedText
from merge_runner.lint.containers.python_values import Values
from merge_runner.lint.containers.relation_text import Relation, table_text

_NUMBERED = "merge_runner_rn"


def relation(chain: Chain, values: Values) -> Relation:
    """Return the DataFrame or DeltaTable that a chain gives; what is not known of it is a placeholder for the whole."""
    return _Frame(chain, values).read()


class _Frame:
    def __init__(self, chain: Chain, values: Values) -> None:
        self.chain = chain
        self.values = values
        self.sql: PiecedText | None = None
        self.alias: PiecedText | None = None

    def read(self) -> Relation:
        links = list(self.chain.links)
        if not links or not self._reads(links):
            self.sql, self.alias = self._unknown(self._frame_name()), None
        for link in links:
            if link.call is None and link.name in ("read", "readStream"):
                continue
            self._step(link)
        assert self.sql is not None
        return Relation(self.sql, self.alias)

    def _reads(self, links: list[Link]) -> bool:
        """Whether the chain begins with a table that is known; its calls are taken off."""
        for number, link in enumerate(links):
            if link.name in ("forName", "forPath", "table", "load", "sql", "toTable") and link.call is not None:
                formats = [link for link in links[:number] if link.name == "format"]
                last = link.call.args[-1] if link.call.args else None
                table = last or link.argument(0, "tableOrViewName", "path", "tableName")
                text = self.values.text(table, link.use) if table is not None else None
                if text is None and table is not None:
                    text = self.values.hole(table, link.use)
                if text is None or not self._begins(link, text, formats):
                    return False
                del links[: number + 1]
                return True
        return False

    def _begins(self, link: Link, text: PiecedText, formats: list[Link]) -> bool:
        if link.name in ("forPath", "load"):
            kind = formats[-1].argument(0) if formats else None
            name = kind.value if isinstance(kind, ast.Constant) and isinstance(kind.value, str) else None
            format = table_format_of(name)
            # A table that needs no catalog is a folder.
            if link.name == "load" and (format is None or capabilities(format).catalog_class is not None):
                return False
        self.sql = table_text("forPath" if link.name == "load" else link.name or "", link, text)
        return self.sql is not None

    def _step(self, link: Link) -> None:
        name, arguments = link.name, link.call.args if link.call is not None else []
        if name in ("alias", "as_") and len(arguments) == 1:
            text = self.values.text(arguments[0], link.use)
            text = text if text is not None else self.values.hole(arguments[0], link.use)
            self.alias = identifier(text) if text else None
        elif name in ("toDF", "cache", "persist", "coalesce", "repartition", "hint", "checkpoint", "localCheckpoint"):
            if name == "toDF" and arguments:
                self._lose(link)
        elif name in ("where", "filter") and len(arguments) == 1:
            condition = sql_of(arguments[0], link.use, self.values)
            self._select(link, link.sql("*"), link.sql(" where ") + condition)
        elif name == "distinct" or (name in ("dropDuplicates", "drop_duplicates") and not arguments):
            self._select(link, link.sql("distinct *"), PiecedText())
        elif name in ("dropDuplicates", "drop_duplicates"):
            self._deduplicate(link, arguments[0])
        elif name == "select" and arguments:
            self._columns(link, arguments)
        else:
            self._lose(link)

    def _columns(self, link: Link, expressions: list[ast.expr]) -> None:
        texts = [self.values.text(expression, link.use) for expression in expressions]
        columns = [column_name(text) if text.text != "*" else text for text in texts if text is not None]
        if len(columns) < len(texts):
            self._lose(link)
        else:
            self._select(link, _join_with_commas(columns, link), PiecedText())

    def _deduplicate(self, link: Link, keys: ast.expr) -> None:
        items = self.values.items(keys, link.use)
        texts = [self.values.text(item, use) for item, use in items or ()]
        columns = [column_name(text) for text in texts if text is not None]
        if not columns or len(columns) < len(texts):
            self._lose(link)
            return
        keyed = _join_with_commas(columns, link)
        number = link.sql("row_number() over (partition by ") + keyed + link.sql(" order by ") + keyed
        self._select(link, link.sql("*, ") + number + link.sql(f") as {_NUMBERED}"), PiecedText())
        self._select(link, link.sql(f"* except ({_NUMBERED})"), link.sql(f" where {_NUMBERED} = 1"))

    def _select(self, link: Link, columns: PiecedText, rest: PiecedText) -> None:
        if self.sql is None:
            return
        origin = Relation(self.sql, self.alias).aliased
        self.values.budget.characters(len(origin.text))
        # An alias that was given before still names the rows in the conditions that follow.
        self.sql = link.sql("(select ") + columns + link.sql(" from ") + origin + rest + link.sql(")")

    def _lose(self, link: Link) -> None:
        self.sql = self._unknown(self._frame_name())

    def _frame_name(self) -> str:
        """What the author calls the DataFrame: the variable that it is in."""
        return self.chain.name or "…"

    def _unknown(self, name: str) -> PiecedText:
        return PiecedText.filled(name, self.chain.use.file.origin(self.chain.root))


def _join_with_commas(parts: list[PiecedText], link: Link) -> PiecedText:
    columns = parts[0]
    for part in parts[1:]:
        columns = columns + link.sql(", ") + part
    return columns
