-- The same filter as a condition of WHEN: it is asked when the rows have been read, so every file is.
{{ config(partition_by='region', scan='full') }}

merge into {{ this }} as t
using (select * from {{ ref('stg_order') }} where region in {{ var('regions') | literal }}) as s
    on t.region = s.region and t.order_id = s.order_id
when matched and t.region in {{ var('regions') | literal }} then update set *  -- noqa: P003 -- that it skips nothing is what this model shows
when not matched then insert *
