-- Takes withdrawn items out of stock: the only clause is a DELETE without a condition, so several notices for one item are no error.
{{ config(alias='stock', unique_key='item') }}

merge into {{ this }} as t
using {{ ref('withdrawal') }} as s
    on t.item = s.item
when matched then delete
