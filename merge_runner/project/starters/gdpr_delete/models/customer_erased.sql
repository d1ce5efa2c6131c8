{{ config(alias='customer', cluster_by=['customer_id'], unique_key='customer_id') }}

-- the table of the model customer, after it
-- depends_on: {{ ref('customer') }}
{{ merge_patterns.gdpr_delete(
    source=ref('erasure_request'),
    keys=['customer_id']
) }}
