{{ config(unique_key=['origin', 'dest']) }}

-- Built from the flights of the window alone: first, last and longest only ever grow, so windows may come in any order.
merge into {{ this }} as t
using (
    select
        f.origin,
        f.dest,
        max(f.distance_miles) as distance_miles,
        min(f.flight_date) as first_flight_date,
        max(f.flight_date) as last_flight_date
    from {{ ref('fct_flight') }} as f
    where {{ in_window('f.flight_date') }}
    group by f.origin, f.dest
) as s
    on t.origin = s.origin
    and t.dest = s.dest
when matched and (
    s.distance_miles > t.distance_miles
    or s.first_flight_date < t.first_flight_date
    or s.last_flight_date > t.last_flight_date
) then update set
    distance_miles = greatest(t.distance_miles, s.distance_miles),
    first_flight_date = least(t.first_flight_date, s.first_flight_date),
    last_flight_date = greatest(t.last_flight_date, s.last_flight_date)
when not matched then insert *
