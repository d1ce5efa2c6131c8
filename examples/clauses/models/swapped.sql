-- Puts the smaller number first. All of SET is worked out on the row as it was, and a row that has been swapped is not asked again.
{{ config(unique_key='item') }}

merge into {{ this }} as t
using {{ ref('delivery') }} as s
    on t.item = s.item
when matched and t.a > t.b then update set a = t.b, b = t.a
when matched and t.a < t.b then update set a = 0, b = 0
when not matched then insert (item, a, b) values (s.item, s.pieces, 10)
