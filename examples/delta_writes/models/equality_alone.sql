-- The partition column is joined, and nothing says by which values: Delta reads the files of all regions.
{{ config(scan='full', bounds='off') }}

merge into {{ this }} as t
using {{ ref('order_change') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
