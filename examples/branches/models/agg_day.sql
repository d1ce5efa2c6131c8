{{ config(partition_by=['day'], unique_key=['day', 'customer']) }}

merge into {{ this }} as t
using (
    select day, customer, count(*) as orders, sum(amount) as amount
    from {{ ref('fct_order') }}
    where day = {{ var('day') | literal }}
    group by day, customer
) as s
    on t.day = {{ var('day') | literal }} and t.day = s.day and t.customer <=> s.customer
when matched then update set t.orders = s.orders, t.amount = s.amount
when not matched then insert *
