{{ config(unique_key=['order_date', 'id'], partition_by=['order_date'],
          incremental_predicates=["DBT_INTERNAL_DEST.order_date >= date'2024-01-02'"]) }}
select id, order_date, region, amount, updated_at from {{ ref('stg_orders') }}
