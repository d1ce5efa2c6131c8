
  
    
        create or replace table shop.appended
      
      
    using delta
      
      
      
      
      
      

      as
      
select id, dt from shop.stg_orders
  