-- Spark's own choice for an outer join whose target cannot be broadcast: it sorts both sides.
{{ config(partition_by='region', scan='full', properties={'write.merge.mode': 'merge-on-read'}) }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
