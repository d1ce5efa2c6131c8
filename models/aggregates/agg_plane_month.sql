{{ config(
    partition_by=['flight_month'],
    unique_key=['flight_month', 'tailnum'],
) }}

{% set measures = ['manufacturer', 'model', 'seats', 'flights', 'flown', 'air_minutes', 'miles_flown',
                   'seat_miles_flown'] -%}

-- A tail number that the register does not know keeps NULL for its make, seats and seat miles.
merge into {{ this }} as t
using (
    select
        f.flight_month,
        f.tailnum,
        max(p.manufacturer) as manufacturer,
        max(p.model) as model,
        max(p.seats) as seats,
        count(*) as flights,
        count_if(f.status = 'flown') as flown,
        coalesce(sum(f.air_time_minutes), 0) as air_minutes,
        coalesce(sum(case when f.status = 'flown' then f.distance_miles end), 0) as miles_flown,
        max(p.seats) * coalesce(sum(case when f.status = 'flown' then f.distance_miles end), 0) as seat_miles_flown
    from {{ ref('fct_flight') }} as f
    left join {{ ref('dim_plane') }} as p
        on p.tailnum = f.tailnum
    where {{ in_months('f.flight_month') }}
        and f.tailnum is not null
    group by f.flight_month, f.tailnum
) as s
    on {{ in_months('t.flight_month') }}
    and t.flight_month = s.flight_month
    and t.tailnum = s.tailnum
when matched and {{ changed(measures) }} then update set *
when not matched then insert *
