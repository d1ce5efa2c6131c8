-- One of two writers of a table: the literal in ON says that it touches its own partition alone.
{{ config(alias='temperature', partition_by='region', unique_key=['region', 'station'], concurrent=true) }}

merge into {{ this }} as t
using (select * from {{ ref('reading') }} where region = 'south') as s
    on t.region = s.region and t.station = s.station and t.region = 'south'
when matched then update set celsius = s.celsius
when not matched then insert *
