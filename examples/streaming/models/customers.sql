-- Inserts, updates and deletes in one MERGE. A deleted customer stays as a row that says so (a soft delete): a change that comes
-- late must not bring the customer back.
{{ config(unique_key='id', cluster_by='id') }}

merge into {{ this }} as t
using (
    select id, region, name, op = 'D' as is_deleted, seq
    from ({{ latest_change(source('crm', 'changes'), 'id', 'seq') }})
) as s
   on t.id = s.id
when matched and s.seq > t.seq then update set *
when not matched then insert *
