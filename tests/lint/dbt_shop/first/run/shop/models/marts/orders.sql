
  
    
        create or replace table shop.orders
      
      
    using delta
      
      
      partitioned by (dt)
      
      
      

      as
      

select id, dt, amount
from shop.stg_orders

  