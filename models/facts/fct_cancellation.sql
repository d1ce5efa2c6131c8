{{ config(
    cluster_by=['flight_date'],
    unique_key=['flight_date', 'carrier', 'flight', 'origin'],
) }}

-- ON says nothing about the window: the runner bounds the scan by the days that the source holds.
merge into {{ this }} as t
using (
    select
        f.flight_date,
        f.carrier,
        f.flight,
        f.origin,
        f.dest,
        f.tailnum,
        f.scheduled_at,
        f.status,
        f.updated_at
    from {{ ref('fct_flight') }} as f
    where {{ in_window('f.flight_date') }}
) as s
    on t.flight_date = s.flight_date
    and t.carrier = s.carrier
    and t.flight = s.flight
    and t.origin = s.origin
-- it flew after all
when matched and s.status <> 'cancelled' then delete
when matched and s.updated_at > t.updated_at then update set
    dest = s.dest,
    tailnum = s.tailnum,
    scheduled_at = s.scheduled_at,
    updated_at = s.updated_at
when not matched and s.status = 'cancelled' then insert
    (flight_date, carrier, flight, origin, dest, tailnum, scheduled_at, updated_at)
    values (s.flight_date, s.carrier, s.flight, s.origin, s.dest, s.tailnum, s.scheduled_at, s.updated_at)
