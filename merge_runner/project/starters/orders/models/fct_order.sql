{#- Each run reads this whole table to find the orders that have changed. It is small, so that is meant: scan='full'.
    Without it, lint reports P001. For a table that grows, write cluster_by=['order_id'] instead: then each run reads
    the files that may hold the order_ids of its source, and no others. -#}
{{ config(unique_key='order_id', scan='full') }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
   on t.order_id = s.order_id
when matched and s.updated_on > t.updated_on then update set *
when not matched then insert *
