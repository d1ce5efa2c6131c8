{{ config(materialized='view') }}

select customer_id, name, city
from {{ ref('customer') }}
where not is_deleted
