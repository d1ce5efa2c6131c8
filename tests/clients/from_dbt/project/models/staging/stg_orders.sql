select id, customer_id, region, status, amount, updated_at, cast(updated_at as date) as order_date
from {{ source('raw', 'orders') }}
