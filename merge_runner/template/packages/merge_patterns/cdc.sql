{#- Each key as its last event has it, in whatever order events come. A deleted key stays, with `is_deleted`. -#}
{% macro cdc(source, keys, columns, sequence_by, operation='op', deletes=['D'], is_deleted='is_deleted') -%}
{%- set keys, columns, deletes = merge_patterns.names(keys), merge_patterns.names(columns), merge_patterns.names(deletes) -%}
{%- set sequence, deleted = sequence_by | column_name, is_deleted | column_name -%}
{%- set is_delete = 'coalesce(s.' ~ operation | column_name ~ ' in ' ~ deletes | literal ~ ', false)' -%}
merge into {{ this }} as t
using {{ merge_patterns.latest(source, keys, columns + [operation], sequence_by) }} as s
    on {{ merge_patterns.joined(keys) }}
when matched and s.{{ sequence }} > t.{{ sequence }}
    then update set {{ merge_patterns.assigned(columns + [sequence_by]) }}, {{ deleted }} = {{ is_delete }}
-- a key that is deleted before it is known is kept as deleted, so that an earlier change that comes later is not inserted
when not matched then
    insert ({{ merge_patterns.listed(keys + columns + [sequence_by, is_deleted]) }})
    values ({{ merge_patterns.listed(keys + columns + [sequence_by], 's.') }}, {{ is_delete }})
{%- endmacro %}
