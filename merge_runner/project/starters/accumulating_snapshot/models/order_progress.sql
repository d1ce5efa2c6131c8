{{ config(cluster_by=['order_id'], unique_key='order_id') }}

{{ merge_patterns.accumulating_snapshot(
    source=ref('order_event'),
    keys=['order_id'],
    milestones=['ordered_at', 'paid_at', 'shipped_at']
) }}
