{{ config(cluster_by=['customer_id'], unique_key='customer_id') }}

{{ merge_patterns.cdc(
    source=ref('customer_log'),
    keys=['customer_id'],
    columns=['name', 'city'],
    sequence_by='position',
    operation='op',
    deletes=['D']
) }}
