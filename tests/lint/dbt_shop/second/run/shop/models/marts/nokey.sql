
    -- back compat for old kwarg name
  
  
  
      
  

  

  merge into shop.nokey as DBT_INTERNAL_DEST
      using nokey__dbt_tmp as DBT_INTERNAL_SOURCE
      on FALSE

      when matched then update set
         * 

      when not matched then insert *
