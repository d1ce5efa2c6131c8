
  
    
        create or replace table shop.payments
      
      
    using delta
      
      
      partitioned by (dt)
      
      
      

      as
      
-- the same window on both sides
select id, dt, max(amount) as amount
from shop.stg_orders
where dt >= date'2024-01-01'
group by id, dt
  