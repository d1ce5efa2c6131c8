{{ config(unique_key=['flight_date', 'carrier', 'flight', 'origin']) }}

with reported as (
    select
        make_date(f.year, f.month, f.day) as flight_date,
        f.carrier,
        f.flight,
        f.origin,
        f.dest,
        f.tailnum,
        f.time_hour as scheduled_hour,
        f.time_hour + make_dt_interval(0, 0, f.minute) as scheduled_at,
        f.dep_delay,
        f.arr_delay,
        f.air_time,
        f.distance
    from {{ source('raw', 'flight') }} as f
),

-- A correction states both delays again, so its NULLs count: no departure delay means that the flight did not leave.
stated as (
    select
        r.flight_date,
        r.carrier,
        r.flight,
        r.origin,
        r.dest,
        r.tailnum,
        r.scheduled_hour,
        r.scheduled_at,
        case when c.corrected_at is null then r.dep_delay else c.dep_delay end as dep_delay,
        case when c.corrected_at is null then r.arr_delay else c.arr_delay end as arr_delay,
        r.air_time,
        r.distance,
        coalesce(c.corrected_at, r.scheduled_at) as updated_at
    from reported as r
    left join {{ ref('stg_flight_correction') }} as c
        on c.flight_date = r.flight_date
        and c.carrier = r.carrier
        and c.flight = r.flight
        and c.origin = r.origin
)

select
    s.flight_date,
    trunc(s.flight_date, 'MM') as flight_month,
    s.carrier,
    s.flight,
    s.origin,
    s.dest,
    s.tailnum,
    s.scheduled_hour,
    s.scheduled_at,
    case
        when s.dep_delay is null then 'cancelled'
        when s.arr_delay is null then 'diverted'
        else 'flown'
    end as status,
    s.dep_delay,
    s.arr_delay,
    case when s.arr_delay is not null then s.air_time end as air_time_minutes,
    s.distance as distance_miles,
    s.updated_at
from stated as s
