{{ config(unique_key='customer_id') }}
with new_rows as (
    select customer_id, sum(amount) as amount, max(updated_at) as seen
    from {{ ref('stg_orders') }}
    {% if is_incremental() %}
    where updated_at > (select max(seen) from {{ this }})
    {% endif %}
    group by customer_id
)
select n.customer_id, n.amount {% if is_incremental() %} + coalesce(o.amount, 0){% endif %} as amount, n.seen
from new_rows as n
{% if is_incremental() %}
left join {{ this }} as o on o.customer_id = n.customer_id
{% endif %}
