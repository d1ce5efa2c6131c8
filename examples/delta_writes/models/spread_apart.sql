-- Each task writes the rows that it has: up to one file for each region and task.
-- merge-runner: noqa: E004 -- the small files are what this model shows
{{ config(scan='full', bounds='off', conf={'spark.databricks.delta.merge.repartitionBeforeWrite.enabled': 'false'}) }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
