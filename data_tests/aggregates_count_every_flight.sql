-- Every aggregate of flights holds each flight once: its total per month is that of the facts.
with totals as (
    select 'fct_flight' as relation, f.flight_month, count(*) as flights
    from {{ ref('fct_flight') }} as f
    group by f.flight_month
    union all
    select 'agg_route_day', r.flight_month, sum(r.flights)
    from {{ ref('agg_route_day') }} as r
    group by r.flight_month
    union all
    select 'agg_airport_day', trunc(a.flight_date, 'MM'), sum(a.flights)
    from {{ ref('agg_airport_day') }} as a
    group by trunc(a.flight_date, 'MM')
    union all
    select 'agg_carrier_month', c.flight_month, sum(c.flights)
    from {{ ref('agg_carrier_month') }} as c
    group by c.flight_month
    union all
    select 'agg_weather_month', w.flight_month, sum(w.flights)
    from {{ ref('agg_weather_month') }} as w
    group by w.flight_month
)

select
    t.flight_month,
    collect_list(struct(t.relation, t.flights)) as totals
from totals as t
group by t.flight_month
having count(*) <> 5 or min(t.flights) <> max(t.flights)
