create or replace view shop.stg_orders
  
  
  as
    
select id, cast(dt as date) as dt, amount from shop.raw_orders
