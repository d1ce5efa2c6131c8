{{ config(cluster_by=['customer_id'], unique_key='customer_id') }}

{{ merge_patterns.scd1(
    source=ref('raw_customer'),
    keys=['customer_id'],
    columns=['name', 'city'],
    sequence_by='updated_at'
) }}
