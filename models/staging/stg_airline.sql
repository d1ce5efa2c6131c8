{{ config(materialized='ephemeral', unique_key=['carrier']) }}

select
    a.carrier,
    a.name
from {{ source('raw', 'airline') }} as a
