{{ config(cluster_by=['customer_id'], unique_key='customer_id') }}

{{ merge_patterns.soft_delete(
    source=ref('raw_customer'),
    keys=['customer_id'],
    columns=['name', 'city'],
    updated_at='updated_at',
    is_deleted='is_deleted'
) }}
