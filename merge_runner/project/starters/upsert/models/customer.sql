{{ config(cluster_by=['customer_id'], unique_key='customer_id') }}

{{ merge_patterns.upsert(
    source=ref('raw_customer'),
    keys=['customer_id'],
    columns=['name', 'city']
) }}
