{#- No row of a key of the source. -#}
{% macro gdpr_delete(source, keys) -%}
{%- set keys = merge_patterns.names(keys) -%}
merge into {{ this }} as t
using (
    select distinct {{ merge_patterns.listed(keys) }}
    from {{ source }}
) as s
    on {{ merge_patterns.joined(keys) }}
when matched then delete
{%- endmacro %}
