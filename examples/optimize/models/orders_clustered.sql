{{ config(unique_key='order_id', scan='full', cluster_by=['customer_id'], optimize={'after': 2}) }}

-- Clustered by the build itself with every second batch: only what has come since is written again.
merge into {{ this }} as t
using (select * from {{ ref('stg_order') }}) as s on t.order_id = s.order_id
when not matched then insert *
