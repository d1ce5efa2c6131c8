-- A flight number leaves an origin once a day.
select
    f.flight_date,
    f.carrier,
    f.flight,
    f.origin,
    count(*) as copies
from {{ ref('fct_flight') }} as f
group by f.flight_date, f.carrier, f.flight, f.origin
having count(*) > 1
