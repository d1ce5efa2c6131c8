{{ config(
    partition_by=['observed_month'],
    unique_key=['observed_month', 'origin', 'observed_at'],
) }}

{% set measures = ['condition', 'temperature_f', 'dew_point_f', 'humidity_percent', 'wind_direction_degrees',
                   'wind_speed_mph', 'wind_gust_mph', 'precipitation_in', 'pressure_mb', 'visibility_miles'] -%}

-- A day has 72 rows, too few for a file: the window picks days, the partitions are months.
merge into {{ this }} as t
using (
    select
        w.observed_month,
        w.observed_date,
        w.origin,
        w.observed_at,
        w.condition,
        w.temperature_f,
        w.dew_point_f,
        w.humidity_percent,
        w.wind_direction_degrees,
        w.wind_speed_mph,
        w.wind_gust_mph,
        w.precipitation_in,
        w.pressure_mb,
        w.visibility_miles
    from {{ ref('stg_weather') }} as w
    where {{ in_months('w.observed_month') }}  -- survives: it only has months not read of which the next line wants no day
        and {{ in_window('w.observed_date') }}
) as s
    on {{ in_months('t.observed_month') }}  -- survives: it only has months not read that USING leaves out
    and t.observed_month = s.observed_month
    and t.origin = s.origin
    and t.observed_at = s.observed_at
when matched and {{ changed(measures) }} then update set *
when not matched then insert *
