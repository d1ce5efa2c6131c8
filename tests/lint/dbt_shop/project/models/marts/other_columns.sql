{{ config(materialized='incremental', unique_key='id', merge_exclude_columns=['dt']) }}
select id, dt, amount from {{ ref('stg_orders') }}
