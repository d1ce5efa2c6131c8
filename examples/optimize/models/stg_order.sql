{{ config(unique_key='order_id') }}
{#- Generated: order ids grow with the batches, customers are scattered over all of them. -#}
{% set first = var('batch') * 2000 %}
select
    id as order_id,
    pmod(id * 7919, 1000) as customer_id,
    cast(id / 2000 as int) as batch,
    sha2(cast(id as string), 256) as note
from range({{ first }}, {{ first + 2000 }}, 1, 2)
