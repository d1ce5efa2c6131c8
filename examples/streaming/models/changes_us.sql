-- See changes_eu.
{{ config(unique_key='seq', cluster_by='seq') }}

merge into {{ this }} as t
using ({{ changes_of('us') }}) as s
   on t.seq = s.seq
when not matched then insert *
