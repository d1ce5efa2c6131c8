{{ config(
    materialized='incremental',
    unique_key=['id', 'dt'],
    partition_by=['dt'],
    incremental_predicates=["DBT_INTERNAL_DEST.dt >= date'2024-01-01'"]
) }}

select id, dt, amount
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where dt > (select max(dt) - interval 3 days from {{ this }})
{% endif %}
