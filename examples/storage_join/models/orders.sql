-- The state of all orders. Merge on read: copy-on-write would look for the touched files first, which is a shuffle.
{{ config(low_shuffle=true, scan='full') }}
merge into {{ this }} as t
using {{ ref('order_event') }} as s
   on t.order_id = s.order_id
when matched and s.updated_at > t.updated_at then update set *
when not matched then insert *
