{{ config(materialized='view') }}
select id, cast(dt as date) as dt, amount from {{ ref('raw_orders') }}
