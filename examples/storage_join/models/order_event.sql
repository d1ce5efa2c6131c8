-- What happened to orders last: one row for each of them.
{{ config(scan='full') }}
merge into {{ this }} as t
using (
    select id as order_id, cast(max(id) % 7 as int) as status, timestamp'2024-01-01' + make_dt_interval(0, 0, 0, max(id)) as updated_at
    from range({{ var('orders', 1000) | literal }}) group by id
) as s
   on t.order_id = s.order_id
when matched and s.updated_at > t.updated_at then update set *
when not matched then insert *
