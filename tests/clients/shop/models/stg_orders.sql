{{ config(materialized='view') }}
select id, amount from {{ ref('raw_orders') }}
