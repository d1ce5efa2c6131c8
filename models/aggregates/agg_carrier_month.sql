{{ config(
    partition_by=['flight_month'],
    unique_key=['flight_month', 'carrier'],
) }}

{% set measures = ['airline', 'flights', 'cancelled', 'diverted', 'late', 'dep_delay_minutes', 'arr_delay_minutes',
                   'mean_arr_delay', 'miles_flown'] -%}

merge into {{ this }} as t
using (
    select
        f.flight_month,
        f.carrier,
        max(a.name) as airline,
        {{ punctuality('f') | indent(8) }},
        coalesce(sum(case when f.status = 'flown' then f.distance_miles end), 0) as miles_flown
    from {{ ref('fct_flight') }} as f
    left join {{ ref('dim_airline') }} as a
        on a.carrier = f.carrier
    where {{ in_months('f.flight_month') }}
    group by f.flight_month, f.carrier
) as s
    on {{ in_months('t.flight_month') }}
    and t.flight_month = s.flight_month
    and t.carrier = s.carrier
when matched and {{ changed(measures) }} then update set *
when not matched then insert *
