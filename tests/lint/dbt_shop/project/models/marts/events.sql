{{ config(materialized='incremental') }}
with new_rows as (
    select * from {{ ref('stg_orders') }}
)

select id, dt, amount from new_rows
