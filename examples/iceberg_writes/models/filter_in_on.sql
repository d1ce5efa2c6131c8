-- The literals in ON are what Iceberg gets to see before it reads: on day 1 the files of the other regions are left out.
{{ config(partition_by='region') }}

merge into {{ this }} as t
using (select * from {{ ref('stg_order') }} where region in {{ var('regions') | literal }}) as s
    on t.region = s.region and t.order_id = s.order_id and t.region in {{ var('regions') | literal }}
when matched then update set *
when not matched then insert *
