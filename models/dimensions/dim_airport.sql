{{ config(unique_key=['airport']) }}

{% set attributes = ['name', 'latitude', 'longitude', 'altitude_ft', 'utc_offset_hours', 'time_zone'] -%}

-- The register is complete each time, so an airport that it no longer names is gone.
merge into {{ this }} as t
using (
    select
        a.airport, a.name, a.latitude, a.longitude, a.altitude_ft, a.utc_offset_hours, a.time_zone
    from {{ ref('stg_airport') }} as a
) as s
    on t.airport = s.airport
when matched and {{ changed(attributes) }} then update set *
when not matched then insert *
when not matched by source then delete
