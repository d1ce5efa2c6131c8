{{ config(materialized='table', tags=['nightly']) }}
select id as customer_id from {{ ref('orders') }}
