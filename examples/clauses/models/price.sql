-- One price per item: which of two should win, nobody says, so two are an error.
{{ config(unique_key='item') }}

merge into {{ this }} as t
using {{ ref('price_list') }} as s
    on t.item = s.item
when matched then update set price = s.price
when not matched then insert (item, price) values (s.item, s.price)
