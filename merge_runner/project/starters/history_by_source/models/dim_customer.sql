{{ config(unique_key=['customer_id', 'valid_from'], scan='full', full_refresh=false) }}

{{ merge_patterns.history_by_source(
    source=ref('raw_customer'),
    keys=['customer_id'],
    columns=['name', 'city'],
    as_of=var('as_of')
) }}
