{{ config(partition_by=['day'], unique_key=['day', 'product_id']) }}

{{ merge_patterns.snapshot_partition(
    source=ref('raw_stock'),
    partition={'day': var('day')},
    keys=['product_id'],
    columns=['pieces']
) }}
