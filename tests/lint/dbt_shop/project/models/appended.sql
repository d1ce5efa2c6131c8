{{ config(materialized='incremental', file_format='delta') }}
select id, dt from {{ ref('stg_orders') }}
