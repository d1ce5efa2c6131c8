{{ config(cluster_by=['customer_id'], unique_key=['customer_id', 'valid_from'], full_refresh=false) }}

{{ merge_patterns.scd2(
    source=ref('raw_customer'),
    keys=['customer_id'],
    columns=['name', 'city'],
    updated_at='updated_at'
) }}
