-- Sorted into ranges of regions, one for each task: one file for each region, at the price of one more pass over the rows.
{{ config(partition_by='region', scan='full', properties={'write.merge.distribution-mode': 'range'}) }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
