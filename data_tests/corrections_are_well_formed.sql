-- A correction names a scheduled flight, comes after its departure, and states no arrival without a departure.
select
    c.*,
    f.scheduled_at
from {{ ref('flight_correction') }} as c
left join {{ ref('stg_flight') }} as f
    on f.flight_date = c.flight_date
    and f.carrier = c.carrier
    and f.flight = c.flight
    and f.origin = c.origin
where f.scheduled_at is null
    or c.corrected_at <= f.scheduled_at
    or (c.dep_delay is null and c.arr_delay is not null)
