-- Files stay; the changed rows are written beside them, and delete files mark the old ones.
{{ config(partition_by='region', scan='full', properties={'write.merge.mode': 'merge-on-read'}) }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
