-- The same with real deletes. Right as long as the changes of a key come in the order of `seq` from batch to batch, as Kafka keeps them
-- where the key names the partition.
{{ config(unique_key='id', cluster_by='id') }}

merge into {{ this }} as t
using (
    select id, region, name, op, seq from ({{ latest_change(source('crm', 'changes'), 'id', 'seq') }})
) as s
   on t.id = s.id
when matched and s.op = 'D' and s.seq > t.seq then delete
when matched and s.seq > t.seq then update set region = s.region, name = s.name, seq = s.seq
when not matched and s.op <> 'D' then insert (id, region, name, seq) values (s.id, s.region, s.name, s.seq)
