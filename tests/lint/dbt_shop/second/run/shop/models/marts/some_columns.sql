
    -- back compat for old kwarg name
  
  
  
      
          
          
      
  

  

  merge into shop.some_columns as DBT_INTERNAL_DEST
      using some_columns__dbt_tmp as DBT_INTERNAL_SOURCE
      on 
              DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id
          

      when matched then update set
        
            amount = DBT_INTERNAL_SOURCE.amount,
            dt = DBT_INTERNAL_SOURCE.dt

      when not matched then insert *
