{# Each order as it was last seen, those that are gone with the time at which they went: the latest change per key. #}
{{ config(unique_key='order_id', scan='full') }}

merge into {{ this }} as t
using (
    select order_id, customer, status, amount, _change_type, _commit_timestamp as changed_at
    from (
        select *, row_number() over (
            partition by order_id
            order by _commit_version desc, if(_change_type = 'delete', 1, 0)
        ) as nth
        from {{ changes('orders') }}
        where _change_type <> 'update_preimage'
    )
    where nth = 1
) as s
    on t.order_id = s.order_id
when matched and s._change_type = 'delete' then update set t.gone = true, t.changed_at = s.changed_at
when matched then update set
    t.customer = s.customer, t.status = s.status, t.amount = s.amount, t.gone = false, t.changed_at = s.changed_at
when not matched then insert (order_id, customer, status, amount, gone, changed_at)
    values (s.order_id, s.customer, s.status, s.amount, s._change_type = 'delete', s.changed_at)
