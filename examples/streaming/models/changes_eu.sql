-- One stream, several targets: a model takes the rows that its predicate names. Every change once, however often it is sent: an
-- insert-only MERGE, which Delta runs as one anti-join and which writes no old row again.
{{ config(unique_key='seq', cluster_by='seq') }}

merge into {{ this }} as t
using ({{ changes_of('eu') }}) as s
   on t.seq = s.seq
when not matched then insert *
