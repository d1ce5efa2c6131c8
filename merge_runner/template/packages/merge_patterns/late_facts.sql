{#- The newest row of each key, of a window such as `['sale_date', var('from'), var('to')]`. -#}
{% macro late_facts(source, keys, columns, sequence_by, window) -%}
{%- if window is string or window | length != 3 -%}
    {{ exceptions.raise_compiler_error('window is a list of a column, its first value and the one after its last') }}
{%- endif -%}
{%- set columns, sequence = merge_patterns.names(columns), sequence_by | column_name -%}
{%- set keys = [window[0]] + (merge_patterns.names(keys) | reject('equalto', window[0]) | list) -%}
merge into {{ this }} as t
using {{ merge_patterns.latest(source, keys, columns, sequence_by, merge_patterns.in_window(window)) }} as s
    on {{ merge_patterns.in_window(window, 't.') }}
    and {{ merge_patterns.joined(keys) }}
when matched and s.{{ sequence }} > t.{{ sequence }}
    then update set {{ merge_patterns.assigned(columns + [sequence_by]) }}
when not matched then {{ merge_patterns.inserted(keys + columns + [sequence_by]) }}
{%- endmacro %}
