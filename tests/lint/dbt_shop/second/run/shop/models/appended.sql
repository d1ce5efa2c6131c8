
    insert into table shop.appended
    select `id`, `dt` from appended__dbt_tmp

