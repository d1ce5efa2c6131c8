{{ config(materialized='table', format='delta', event_time='day') }}

-- What has come up to now, the last version of each order.
select order_id, day, amount
from (
    select
        order_id,
        date_sub(current_date(), days_ago) as day,
        amount,
        row_number() over (partition by order_id order by delivery desc) as nth
    from {{ ref('delivered') }}
    where delivery <= {{ var('delivery') }}
)
where nth = 1
