from merge_runner.formats import confs
from merge_runner.formats.lines import RECOMMENDED
from merge_runner.formats.rules import rules
from merge_runner.formats.storage_join import SETTINGS, storage_join


def test_all_that_it_sets_is_read_by_the_engine():
    for on in (True, False):
        found = storage_join(on=on)
        assert [
            rules("iceberg").property_fault(key, value, None, RECOMMENDED) for key, value in found.properties.items()
        ] == [None] * len(found.properties)
        assert not found.conf.keys() & confs.INSTEAD.keys()


def test_only_what_is_no_default_changes_anything():
    changed = {each.key for each in SETTINGS if each.value != each.default}
    assert changed < storage_join(on=True).conf.keys()
    assert storage_join(on=False).conf == {}
