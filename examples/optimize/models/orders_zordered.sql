{{ config(unique_key='order_id', scan='full', optimize={'zorder_by': ['customer_id']}) }}

-- Compacted and Z-ordered by `merge-runner optimize`.
merge into {{ this }} as t
using (select * from {{ ref('stg_order') }}) as s on t.order_id = s.order_id
when not matched then insert *
