{{ config(partition_by=['day'], unique_key=['order_id']) }}

merge into {{ this }} as t
using (select * from {{ source('raw', 'orders') }} where day = {{ var('day') | literal }}) as s
    on t.day = {{ var('day') | literal }} and t.order_id = s.order_id
when matched then update set t.amount = s.amount
when not matched then insert *
