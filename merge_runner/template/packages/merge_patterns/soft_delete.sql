{#- Each key with its newest values, and `deleted_at` while the newest is a delete. -#}
{% macro soft_delete(source, keys, columns, updated_at, is_deleted='is_deleted', deleted_at='deleted_at') -%}
{%- set keys, columns = merge_patterns.names(keys), merge_patterns.names(columns) -%}
{%- set changed, deletion, gone = updated_at | column_name, deleted_at | column_name, is_deleted | column_name -%}
merge into {{ this }} as t
using {{ merge_patterns.latest(source, keys, columns + [is_deleted], updated_at) }} as s
    on {{ merge_patterns.joined(keys) }}
when matched and s.{{ gone }} and t.{{ deletion }} is null and s.{{ changed }} >= t.{{ changed }}
    then update set {{ changed }} = s.{{ changed }}, {{ deletion }} = s.{{ changed }}
when matched and s.{{ gone }} is not true and s.{{ changed }} > t.{{ changed }}
    then update set {{ merge_patterns.assigned(columns + [updated_at]) }}, {{ deletion }} = null
when not matched and s.{{ gone }} is not true then
    insert ({{ merge_patterns.listed(keys + columns + [updated_at, deleted_at]) }})
    values ({{ merge_patterns.listed(keys + columns + [updated_at], 's.') }}, null)
{%- endmacro %}
