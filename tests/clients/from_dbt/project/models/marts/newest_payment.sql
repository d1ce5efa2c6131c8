{{ config(unique_key='order_id') }}
-- Delta cannot read the target in this subquery where it is in the MERGE itself
with ranked as (
    select *, row_number() over (partition by order_id order by paid_at desc) as nth
    from {{ source('raw', 'payments') }}
)

select order_id, amount, paid_at
from ranked
where nth = 1
{% if is_incremental() %}
  and paid_at > (select coalesce(max(paid_at), timestamp'1900-01-01') from {{ this }})
{% endif %}
