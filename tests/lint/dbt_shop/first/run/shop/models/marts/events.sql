
  
    
        create or replace table shop.events
      
      
    using delta
      
      
      
      
      
      

      as
      
with new_rows as (
    select * from shop.stg_orders
)

select id, dt, amount from new_rows
  