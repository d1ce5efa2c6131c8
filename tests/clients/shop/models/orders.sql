{{ config(unique_key='id', scan='full') }}
merge into {{ this }} as t
using (select id, amount from {{ ref('stg_orders') }}) as s on t.id = s.id
when matched and s.amount <> t.amount then update set t.amount = s.amount
when not matched then insert *
