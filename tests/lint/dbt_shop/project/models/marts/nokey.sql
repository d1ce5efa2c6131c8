{{ config(materialized='incremental') }}
select id, dt from {{ ref('stg_orders') }}
