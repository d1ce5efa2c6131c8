{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['order_date']) }}
select id, order_date from {{ ref('stg_orders') }}
