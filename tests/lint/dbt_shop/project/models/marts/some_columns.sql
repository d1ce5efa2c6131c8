{{ config(materialized='incremental', unique_key='id', merge_update_columns=['amount', 'dt']) }}
select distinct id, dt, amount from {{ ref('stg_orders') }}
