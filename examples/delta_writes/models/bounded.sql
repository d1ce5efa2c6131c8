-- The same text; the regions that the source holds are looked up when it runs, and stand in ON then: Delta reads these alone. Small tables
-- are read as a whole (`bounds: auto`), so the column is named here.
{{ config(bounds=['region']) }}

merge into {{ this }} as t
using {{ ref('order_change') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
