{#- Every version of each key of a full snapshot. What it no longer has is closed. -#}
{% macro history_by_source(source, keys, columns, as_of, valid_from='valid_from', valid_to='valid_to', is_current='is_current') -%}
{%- set keys, columns = merge_patterns.names(keys), merge_patterns.names(columns) -%}
{%- set since, until, current = valid_from | column_name, valid_to | column_name, is_current | column_name -%}
{%- set at = as_of | literal -%}
merge into {{ this }} as t
using (
    -- closes the current version of a row that has changed, or inserts a new row
    select {{ keys[0] | column_name }} as merge_key, {{ merge_patterns.listed(keys + columns) }}
    from {{ source }}
    {%- if is_incremental() %}
    union all
    -- the new version of a row that has changed: a NULL key matches nothing, so it is inserted
    select null, {{ merge_patterns.listed(keys + columns, 'n.') }}
    from {{ source }} as n
    join {{ this }} as c on {{ merge_patterns.joined(keys, 'c', 'n') }} and c.{{ current }}
    where {{ merge_patterns.differs(columns, 'c', 'n') }}
    {%- endif %}
) as s
    on t.{{ keys[0] | column_name }} = s.merge_key
    {%- if keys[1:] %} and {{ merge_patterns.joined(keys[1:]) }}{% endif %}
    and t.{{ current }}
when matched and {{ merge_patterns.differs(columns) }} then update set {{ until }} = {{ at }}, {{ current }} = false
when not matched then
    insert ({{ merge_patterns.listed(keys + columns + [valid_from, valid_to, is_current]) }})
    values ({{ merge_patterns.listed(keys + columns, 's.') }}, {{ at }}, null, true)
-- a row that the source no longer has
when not matched by source and t.{{ current }} then update set {{ until }} = {{ at }}, {{ current }} = false
{%- endmacro %}
