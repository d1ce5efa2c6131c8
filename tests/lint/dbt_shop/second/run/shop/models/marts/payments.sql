
    -- back compat for old kwarg name
  
  
  
      
          
          
      
  

  

  merge into shop.payments as DBT_INTERNAL_DEST
      using payments__dbt_tmp as DBT_INTERNAL_SOURCE
      on DBT_INTERNAL_DEST.dt >= date'2024-01-01' and 
              DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id
          

      when matched then update set
         * 

      when not matched then insert *
