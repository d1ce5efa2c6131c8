-- The rows of a region are brought together before they are written: one file for each region.
{{ config(partition_by='region', scan='full', properties={'write.merge.distribution-mode': 'hash'}) }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
