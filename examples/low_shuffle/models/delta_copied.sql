{{ config(format='delta', unique_key='order_id', scan='full', low_shuffle=false) }}

merge into {{ this }} as t
using (select * from {{ ref('stg_order') }}) as s on t.order_id = s.order_id
when matched then update set t.status = s.status
when not matched then insert *
