{# What each order is now: a cancelled one is gone. #}
{{ config(unique_key='order_id', scan='full') }}

merge into {{ this }} as t
using (
    select order_id, customer, status, amount
    from {{ ref('order_event') }}
    where day = {{ var('day') | int }}
) as s
    on t.order_id = s.order_id
when matched and s.status = 'cancelled' then delete
when matched then update set *
when not matched and s.status <> 'cancelled' then insert *
