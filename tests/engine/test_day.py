"""The day of a session: when it begins and ends, by the rules of its time zone."""

import time
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from merge_runner.engine.spark.day import current_day

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    "zone", ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Niue", "Australia/Lord_Howe"]
)
@pytest.mark.parametrize("type", ["TIMESTAMP_LTZ", "TIMESTAMP_NTZ"])
def test_a_day_lasts_from_midnight_to_midnight_in_the_time_zone_of_the_session(driver, zone, type):
    with driver.session() as session:
        session.conf.set("spark.sql.session.timeZone", zone)
        session.conf.set("spark.sql.timestampType", type)
        before = datetime.now(ZoneInfo(zone))
        begins, ends = current_day(session)
    assert begins <= time.time()
    if time.time() < ends:  # else midnight was just now
        midnight = before.replace(hour=0, minute=0, second=0, microsecond=0)
        next_one = (midnight + timedelta(days=1)).replace(fold=0)
        assert (begins, ends) == (midnight.timestamp(), next_one.timestamp())
