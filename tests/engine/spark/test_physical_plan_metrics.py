"""The metrics of a plan from the text of Scala's map of them, and one by one where the text has another form."""

from types import SimpleNamespace

import pytest

from merge_runner.engine.spark.physical_plan_metrics import values_of


class FakeMap:
    """A map of metrics in the JVM; `text` is that of an entry. It counts what is asked one by one."""

    def __init__(self, values, text):
        self.values, self.text, self.asked = values, text, 0

    def mkString(self, separator):  # noqa: N802  # a method of Scala
        return separator.join(self.text.format(name=name, value=value) for name, value in self.values.items())

    def size(self):
        return len(self.values)

    def toSeq(self):  # noqa: N802
        return self

    def apply(self, index):
        self.asked += 1
        name, value = list(self.values.items())[index]
        return SimpleNamespace(_1=lambda: name, _2=lambda: SimpleNamespace(value=lambda: value))


VALUES = {"numSourceRows": 5, "scanTimeMs": -1, "numTargetFilesBeforeSkipping": 1234567890123}
SPARK = "{name} -> SQLMetric(id: 12, name: Some(files, value: 7) of\tit), value: {value})"


@pytest.mark.parametrize(
    ("values", "text", "one_by_one"),
    [
        (VALUES, SPARK, False),
        (VALUES, "{name} -> SQLMetric(id: 12, name: None, value: {value})", False),
        ({}, SPARK, True),
        (VALUES, "{name} -> SQLMetric(id: 12, name: Some(two\nlines), value: {value})", True),
        (VALUES, "{name} -> Un-registered Accumulator: SQLMetric", True),
        (VALUES, "({name},SQLMetric({value}))", True),
        ({**VALUES, "a name": 3}, SPARK, True),
        ({**VALUES, "x": 3}, SPARK + "\n" + SPARK, True),
    ],
)
def test_values_are_those_of_the_map_whatever_its_text(values, text, one_by_one):
    found = FakeMap(values, text)
    assert values_of(found) == values
    assert found.asked == (len(values) if one_by_one else 0)
