{# What each customer has ordered: every change adds what is new and takes away what was there, once. #}
{{ config(unique_key='customer', scan='full') }}

merge into {{ this }} as t
using (
    select
        customer,
        sum(if(_change_type in ('insert', 'update_postimage'), amount, -amount)) as amount,
        sum(if(_change_type in ('insert', 'update_postimage'), 1, -1)) as orders
    from {{ changes('orders') }}
    group by customer
) as s
    on t.customer = s.customer
when matched then update set t.amount = t.amount + s.amount, t.orders = t.orders + s.orders
when not matched then insert (customer, amount, orders) values (s.customer, s.amount, s.orders)
