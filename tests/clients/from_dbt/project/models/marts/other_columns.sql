{{ config(unique_key='id', merge_exclude_columns=['AMOUNT', 'id']) }}
select id, status, amount, updated_at from {{ ref('stg_orders') }}
