-- The rows of a region are brought together before they are written: one file for each region. That is Delta's way by itself.
{{ config(scan='full', bounds='off', conf={'spark.databricks.delta.merge.repartitionBeforeWrite.enabled': 'true'}) }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
