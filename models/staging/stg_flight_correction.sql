{{ config(materialized='ephemeral', unique_key=['flight_date', 'carrier', 'flight', 'origin']) }}

-- The latest correction of each corrected flight that was known at the moment `as_of`.
select
    k.flight_date, k.carrier, k.flight, k.origin, k.dep_delay, k.arr_delay, k.corrected_at
from (
    select
        c.*,
        row_number() over (
            partition by c.flight_date, c.carrier, c.flight, c.origin
            order by c.corrected_at desc
        ) as nth
    from {{ ref('flight_correction') }} as c
    where c.corrected_at < {{ as_of() }}
) as k
where k.nth = 1
