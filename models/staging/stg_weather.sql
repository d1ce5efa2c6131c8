{{ config(unique_key=['origin', 'observed_at']) }}

-- The key is the instant: on the night when summer time ends, the local hour 1 comes twice.
with observed as (
    select
        make_date(w.year, w.month, w.day) as observed_date,
        w.origin,
        w.time_hour as observed_at,
        w.temp,
        w.dewp,
        w.humid,
        w.wind_dir,
        -- a broken sensor reported 1048 mph once
        case when w.wind_speed < 200 then w.wind_speed end as wind_speed,
        w.wind_gust,
        w.precip,
        w.pressure,
        w.visib
    from {{ source('raw', 'weather') }} as w
)

-- Decimals instead of doubles: 10.357019999999999 mph is nine knots, and equal values should compare as equal.
select
    trunc(o.observed_date, 'MM') as observed_month,
    o.observed_date,
    o.origin,
    o.observed_at,
    case
        when o.precip > 0 and o.temp <= 32 then 'snow'
        when o.precip > 0 then 'rain'
        when o.visib < 3 then 'fog'
        when o.wind_speed >= 25 then 'wind'
        else 'fair'
    end as condition,
    cast(o.temp as decimal(5, 2)) as temperature_f,
    cast(o.dewp as decimal(5, 2)) as dew_point_f,
    cast(o.humid as decimal(5, 2)) as humidity_percent,
    o.wind_dir as wind_direction_degrees,
    cast(o.wind_speed as decimal(5, 2)) as wind_speed_mph,
    cast(o.wind_gust as decimal(5, 2)) as wind_gust_mph,
    cast(o.precip as decimal(4, 2)) as precipitation_in,
    cast(o.pressure as decimal(6, 1)) as pressure_mb,
    cast(o.visib as decimal(4, 2)) as visibility_miles
from observed as o
