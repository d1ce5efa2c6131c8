-- Files with a changed row are written again, with all of their rows.
{{ config(partition_by='region', scan='full', properties={'write.merge.mode': 'copy-on-write'}) }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
