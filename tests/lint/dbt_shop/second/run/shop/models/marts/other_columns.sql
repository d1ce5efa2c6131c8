
    -- back compat for old kwarg name
  
  
  
      
          
          
      
  

  

  merge into shop.other_columns as DBT_INTERNAL_DEST
      using other_columns__dbt_tmp as DBT_INTERNAL_SOURCE
      on 
              DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id
          

      when matched then update set
        
            `id` = DBT_INTERNAL_SOURCE.`id`,
            `amount` = DBT_INTERNAL_SOURCE.`amount`

      when not matched then insert *
