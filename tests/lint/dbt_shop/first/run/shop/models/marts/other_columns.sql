
  
    
        create or replace table shop.other_columns
      
      
    using delta
      
      
      
      
      
      

      as
      
select id, dt, amount from shop.stg_orders
  