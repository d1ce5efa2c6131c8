{#- Each key with its newest values, by `sequence_by`. -#}
{% macro scd1(source, keys, columns, sequence_by) -%}
{%- set keys, columns = merge_patterns.names(keys), merge_patterns.names(columns) -%}
{%- set sequence = sequence_by | column_name -%}
merge into {{ this }} as t
using {{ merge_patterns.latest(source, keys, columns, sequence_by) }} as s
    on {{ merge_patterns.joined(keys) }}
when matched and s.{{ sequence }} > t.{{ sequence }}
    then update set {{ merge_patterns.assigned(columns + [sequence_by]) }}
when not matched then {{ merge_patterns.inserted(keys + columns + [sequence_by]) }}
{%- endmacro %}
