-- What a flight did not do has no figure.
select f.*
from {{ ref('fct_flight') }} as f
where (f.dep_delay is null) <> (f.status = 'cancelled')
    or (f.arr_delay is null) = (f.status = 'flown')
    or (f.air_time_minutes is not null and f.status <> 'flown')
