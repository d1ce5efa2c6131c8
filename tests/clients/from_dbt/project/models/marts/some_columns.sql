{{ config(unique_key='id', merge_update_columns=['status', 'updated_at']) }}
select id, status, amount, updated_at from {{ ref('recent_orders') }}
