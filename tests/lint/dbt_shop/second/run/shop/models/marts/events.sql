
    -- back compat for old kwarg name
  
  
  
      
          
              
              
          
              
              
          
      
  

  

  merge into shop.events as DBT_INTERNAL_DEST
      using events__dbt_tmp as DBT_INTERNAL_SOURCE
      on DBT_INTERNAL_DEST.dt >= date'2024-01-01' and 
                  DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id
               and 
                  DBT_INTERNAL_SOURCE.dt = DBT_INTERNAL_DEST.dt
              

      when matched then update set
         * 

      when not matched then insert *
