{{ config(materialized='ephemeral', unique_key=['tailnum']) }}

select
    p.tailnum,
    p.year as year_built,
    p.type as plane_type,
    -- one maker, one name: the register spells Airbus in two ways and McDonnell Douglas in three
    case
        when p.manufacturer like 'AIRBUS%' then 'AIRBUS'
        when p.manufacturer like 'MCDONNELL DOUGLAS%' then 'MCDONNELL DOUGLAS'
        else p.manufacturer
    end as manufacturer,
    p.model,
    p.engines,
    p.seats,
    p.speed as cruise_speed_mph,
    p.engine as engine_type
from {{ source('raw', 'plane') }} as p
