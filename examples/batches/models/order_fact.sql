{{ config(
    event_time='day', batch_size='day', begin=var('begin'), lookback=2, late_rows='warn',
    partition_by=['day'], unique_key=['order_id', 'day'],
) }}

merge into {{ this }} as t
using (
    select order_id, day, cast(amount as decimal(9, 2)) as amount
    from {{ ref('event') }}
    where day >= {{ batch.start }} and day < {{ batch.end }}
) as s
    on t.order_id = s.order_id and t.day = s.day
    and t.day >= {{ batch.start }} and t.day < {{ batch.end }}
when matched and not (t.amount <=> s.amount) then update set amount = s.amount
when not matched then insert *
