-- Three clauses for rows that match, two for rows of the source alone, two for rows of the target alone; more than one may hold for a row.
{{ config(unique_key='item') }}

merge into {{ this }} as t
using {{ ref('delivery') }} as s
    on t.item = s.item
when matched and s.pieces >= 2 * t.pieces then update set pieces = s.pieces, note = 'doubled'
when matched and s.pieces > t.pieces then update set pieces = s.pieces, note = 'more'
when matched and s.pieces = 0 then delete
when not matched and s.pieces >= 20 then insert (item, pieces, note) values (s.item, s.pieces, 'many')
when not matched and s.pieces > 0 then insert (item, pieces, note) values (s.item, s.pieces, 'new')
when not matched by source and t.pieces = 0 then delete
when not matched by source and t.pieces < 10 then update set note = 'few'
