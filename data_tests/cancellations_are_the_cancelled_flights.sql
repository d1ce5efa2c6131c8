-- fct_cancellation holds the cancelled flights and nothing else.
select
    f.status,
    coalesce(f.flight_date, c.flight_date) as flight_date,
    coalesce(f.carrier, c.carrier) as carrier,
    coalesce(f.flight, c.flight) as flight,
    coalesce(f.origin, c.origin) as origin
from (
    select g.status, g.flight_date, g.carrier, g.flight, g.origin
    from {{ ref('fct_flight') }} as g
    where g.status = 'cancelled'
) as f
full outer join {{ ref('fct_cancellation') }} as c
    on c.flight_date = f.flight_date
    and c.carrier = f.carrier
    and c.flight = f.flight
    and c.origin = f.origin
where f.flight_date is null or c.flight_date is null
