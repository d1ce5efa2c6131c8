{{ config(
    partition_by=['flight_month'],
    unique_key=['flight_month', 'origin'],
) }}

-- The busiest route of each origin in each month; between equals, the first in the alphabet.
merge into {{ this }} as t
using (
    select
        r.flight_month,
        r.origin,
        r.dest,
        r.flights,
        r.late
    from (
        select
            m.flight_month,
            m.origin,
            m.dest,
            m.flights,
            m.late,
            row_number() over (partition by m.flight_month, m.origin order by m.flights desc, m.dest) as nth
        from (
            select
                d.flight_month,
                d.origin,
                d.dest,
                sum(d.flights) as flights,
                sum(d.late) as late
            from {{ ref('agg_route_day') }} as d
            where {{ in_months('d.flight_month') }}
            group by d.flight_month, d.origin, d.dest
        ) as m
    ) as r
    where r.nth = 1
) as s
    on {{ in_months('t.flight_month') }}
    and t.flight_month = s.flight_month
    and t.origin = s.origin
when matched and {{ changed(['dest', 'flights', 'late']) }} then update set *
when not matched then insert *
