{{ config(materialized='ephemeral', unique_key=['airport']) }}

-- The register misses four airports and misplaces three; the seed's row wins.
select
    r.airport, r.name, r.latitude, r.longitude, r.altitude_ft, r.utc_offset_hours, r.time_zone
from (
    select
        u.*,
        row_number() over (partition by u.airport order by u.priority) as nth
    from (
        select
            o.faa as airport,
            o.name,
            o.lat as latitude,
            o.lon as longitude,
            o.alt as altitude_ft,
            o.tz as utc_offset_hours,
            o.tzone as time_zone,
            1 as priority
        from {{ ref('airport_override') }} as o
        union all
        select
            a.faa,
            a.name,
            cast(a.lat as decimal(9, 6)),
            cast(a.lon as decimal(9, 6)),
            a.alt,
            a.tz,
            a.tzone,
            2
        from {{ source('raw', 'airport') }} as a
    ) as u
) as r
where r.nth = 1
