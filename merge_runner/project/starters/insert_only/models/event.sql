{{ config(cluster_by=['event_id'], unique_key='event_id') }}

{{ merge_patterns.insert_only(
    source=ref('raw_event'),
    keys=['event_id'],
    columns=['kind'],
    order_by='received_at'
) }}
