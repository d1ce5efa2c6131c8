{{ config(partition_by=['sale_date'], unique_key=['sale_date', 'sale_id']) }}

{{ merge_patterns.late_facts(
    source=ref('raw_sale'),
    keys=['sale_id'],
    columns=['amount'],
    sequence_by='loaded_at',
    window=['sale_date', var('from'), var('to')]
) }}
