{{ config(
    format='iceberg', event_time='day', batch_size='day', begin=var('begin'), lookback=2, batches_at_once=30,
    partition_by=['day'], unique_key=['day'],
) }}

merge into {{ this }} as t
using (
    select day, count(*) as orders, sum(amount) as amount
    from {{ ref('order_fact') }}
    where day >= {{ batch.start }} and day < {{ batch.end }}
    group by day
) as s
    on t.day = s.day and t.day >= {{ batch.start }} and t.day < {{ batch.end }}
when matched and not (t.orders <=> s.orders and t.amount <=> s.amount) then update set *
when not matched then insert *
