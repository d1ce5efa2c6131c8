{{ config(materialized='view', partition_by=[]) }}
{#- Generated: four regions of a hundred orders; what changes later are four orders of the north. -#}
select
    id as order_id,
    element_at(array('north', 'east', 'south', 'west'), cast(id % 4 as int) + 1) as region,
    'day {{ var('day') | int }}' as status
from range(0, 400, {{ 1 if var('day') | int == 0 else 100 }}, 3)
