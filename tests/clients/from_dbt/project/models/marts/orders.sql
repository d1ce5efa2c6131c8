{{ config(unique_key='id') }}
select id, customer_id, status, {{ cents('amount') }} as cents, updated_at
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where updated_at > (select max(updated_at) from {{ this }})
{% endif %}
