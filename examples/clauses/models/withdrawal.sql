{{ config(materialized='ephemeral') }}
-- What has come in is withdrawn, in this order: depends_on: {{ ref('stock') }}
select notice, item from values (1, 2L), (2, 2L) as v(notice, item)
