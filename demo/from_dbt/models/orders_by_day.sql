{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['order_date']) }}

select cast(updated_at as date) as order_date, count(*) as orders
from {{ ref('orders') }}
group by cast(updated_at as date)
