{{ config(materialized='view') }}

with ranked as (
    select
        o.*,
        row_number() over (partition by order_id order by updated_on desc) as newest
    from {{ ref('order') }} as o
)

select order_id, customer, amount, updated_on
from ranked
where newest = 1
