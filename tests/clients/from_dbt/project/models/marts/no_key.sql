select id, amount as v from {{ ref('stg_orders') }} where region = 2
