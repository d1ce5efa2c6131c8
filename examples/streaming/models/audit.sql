-- What came when: appended once for each batch, also when a batch comes again. No row matches `false`, so nothing is read of the target.
merge into {{ this }} as t
using (
    select _batch_id as batch_id, _processed_at as processed_at, count(*) as changes,
           count_if(op = 'D') as deletes, min(seq) as first_seq, max(seq) as last_seq
    from {{ source('crm', 'changes') }}
    group by _batch_id, _processed_at
) as s
   on false
when not matched then insert *
