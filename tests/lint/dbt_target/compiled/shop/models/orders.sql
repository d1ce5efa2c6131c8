
select id, dt, amount from shop.stg_orders
 where dt > '2024-01-01' 