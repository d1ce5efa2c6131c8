{{ config(
    partition_by=['flight_month'],
    unique_key=['flight_month', 'condition'],
) }}

{% set measures = ['flights', 'cancelled', 'diverted', 'late', 'dep_delay_minutes', 'arr_delay_minutes',
                   'mean_arr_delay'] -%}

-- A group can lose its last flight: flights wait under 'unknown' until their weather is built. WHEN NOT MATCHED BY
-- SOURCE would delete it, and read the whole target for that. Instead the source carries the groups that the target
-- has for these months, with no flight in them, and a group that stays empty is deleted as a matched row.
merge into {{ this }} as t
using (
    select
        g.flight_month,
        g.condition,
        {{ punctuality('g') | indent(8) }}
    from (
        select
            f.flight_month,
            coalesce(w.condition, 'unknown') as condition,
            f.status,
            f.dep_delay,
            f.arr_delay
        from {{ ref('fct_flight') }} as f
        left join {{ ref('fct_weather_hour') }} as w
            on w.observed_month = f.flight_month
            and w.origin = f.origin
            and w.observed_at = f.scheduled_hour
        union all
        select
            a.flight_month,
            a.condition,
            cast(null as string) as status,
            cast(null as int) as dep_delay,
            cast(null as int) as arr_delay
        from {{ this }} as a
    ) as g
    where {{ in_months('g.flight_month') }}
    group by g.flight_month, g.condition
) as s
    on {{ in_months('t.flight_month') }}
    and t.flight_month = s.flight_month
    and t.condition = s.condition
when matched and s.flights = 0 then delete
when matched and {{ changed(measures) }} then update set *
when not matched then insert *
