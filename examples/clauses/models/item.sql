-- Columns that a supplier brings and the table does not have are added to it.
{{ config(unique_key='item') }}

merge with schema evolution into {{ this }} as t
using {{ ref('supplier_item') }} as s
    on t.item = s.item
when matched then update set *
when not matched then insert *
