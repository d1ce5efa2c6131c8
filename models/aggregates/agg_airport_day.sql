{{ config(
    cluster_by=['flight_date'],
    unique_key=['flight_date', 'origin'],
) }}

{% set measures = ['flights', 'cancelled', 'diverted', 'late', 'dep_delay_minutes', 'arr_delay_minutes',
                   'mean_arr_delay', 'strongest_wind_mph', 'poorest_visibility_miles'] -%}

merge into {{ this }} as t
using (
    select
        f.flight_date,
        f.origin,
        {{ punctuality('f') | indent(8) }},
        max(w.wind_speed_mph) as strongest_wind_mph,
        min(w.visibility_miles) as poorest_visibility_miles
    from {{ ref('fct_flight') }} as f
    left join {{ ref('fct_weather_hour') }} as w
        on w.observed_month = f.flight_month
        and w.origin = f.origin
        and w.observed_at = f.scheduled_hour
    where {{ in_window('f.flight_date') }}
    group by f.flight_date, f.origin
) as s
    on {{ in_window('t.flight_date') }}
    and t.flight_date = s.flight_date
    and t.origin = s.origin
when matched and {{ changed(measures) }} then update set *
when not matched then insert *
