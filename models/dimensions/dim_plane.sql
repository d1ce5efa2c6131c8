{{ config(unique_key=['tailnum']) }}

{% set attributes = ['year_built', 'plane_type', 'manufacturer', 'model', 'engines', 'seats', 'cruise_speed_mph',
                     'engine_type', 'is_current'] -%}

-- A plane that left the register keeps its row, since flights still name it.
merge into {{ this }} as t
using (
    select
        p.tailnum,
        p.year_built,
        p.plane_type,
        p.manufacturer,
        p.model,
        p.engines,
        p.seats,
        p.cruise_speed_mph,
        p.engine_type,
        true as is_current
    from {{ ref('stg_plane') }} as p
) as s
    on t.tailnum = s.tailnum
when matched and {{ changed(attributes) }} then update set *
when not matched then insert *
when not matched by source and t.is_current then update set is_current = false
