-- Without fanout writers a task keeps one file open: it sorts its rows by region before it writes them.
{{ config(partition_by='region', scan='full', properties={'write.spark.fanout.enabled': 'false'}) }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
