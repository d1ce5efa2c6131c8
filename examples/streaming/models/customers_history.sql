-- A history (slowly changing dimension, type 2) in one MERGE: the first new version of a customer closes the one that is open, and every
-- new version is a row. A version that is not newer than what is known is left out, so that a late change changes nothing.
{{ config(unique_key=['id', 'valid_from_seq'], cluster_by='id') }}

merge into {{ this }} as t
using (
    with versions as (
        select c.*, lead(c.seq) over (partition by c.id order by c.seq) as next_seq,
               row_number() over (partition by c.id order by c.seq) as nth
        from (select distinct op, seq, id, region, name from {{ source('crm', 'changes') }}) as c
        left join (select id, max(valid_from_seq) as seq from {{ this }} group by id) as known on known.id = c.id
        where known.seq is null or c.seq > known.seq
    )
    select id as closed_id, id, region, name, op, seq, next_seq from versions where nth = 1
    union all
    select null as closed_id, id, region, name, op, seq, next_seq from versions
) as s
   on t.id = s.closed_id and t.valid_to_seq is null
when matched then update set valid_to_seq = s.seq
when not matched and s.closed_id is null then
    insert (id, region, name, is_deleted, valid_from_seq, valid_to_seq)
    values (s.id, s.region, s.name, s.op = 'D', s.seq, s.next_seq)
