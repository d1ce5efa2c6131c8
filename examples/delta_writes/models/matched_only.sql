-- Orders of the north are shipped at once. Where every clause is WHEN MATCHED, Delta reads by what they ask of the target as well.
-- It writes the table of `bounded`, behind it: depends_on: {{ ref('bounded') }}
{{ config(alias='bounded', bounds='off') }}

merge into {{ this }} as t
using {{ ref('order_change') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched and t.region = 'north' then update set status = concat(s.status, ', shipped')
