{{ config(unique_key='order_id', scan='full') }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
   on t.order_id = s.order_id
when matched and s.updated_on > t.updated_on then update set *
when not matched then insert *
