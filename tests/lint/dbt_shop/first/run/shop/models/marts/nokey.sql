
  
    
        create or replace table shop.nokey
      
      
    using delta
      
      
      
      
      
      

      as
      
select id, dt from shop.stg_orders
  