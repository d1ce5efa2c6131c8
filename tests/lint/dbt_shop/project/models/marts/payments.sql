{{ config(
    materialized='incremental',
    unique_key='id',
    partition_by=['dt'],
    incremental_predicates=["DBT_INTERNAL_DEST.dt >= date'2024-01-01'"]
) }}
-- the same window on both sides
select id, dt, max(amount) as amount
from {{ ref('stg_orders') }}
where dt >= date'2024-01-01'
group by id, dt
