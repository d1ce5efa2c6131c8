{{ config(materialized='table') }}
select customer_id, sum(cents) as total from {{ ref('orders') }} group by customer_id
