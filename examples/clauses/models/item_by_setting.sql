-- The same by a setting, which holds for every statement of the model.
{{ config(unique_key='item', conf={'spark.databricks.delta.schema.autoMerge.enabled': 'true'}) }}

merge into {{ this }} as t
using {{ ref('supplier_item') }} as s
    on t.item = s.item
when matched then update set *
when not matched then insert *
