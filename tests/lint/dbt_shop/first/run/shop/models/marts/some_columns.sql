
  
    
        create or replace table shop.some_columns
      
      
    using delta
      
      
      
      
      
      

      as
      
select distinct id, dt, amount from shop.stg_orders
  