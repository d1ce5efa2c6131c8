{#- Each key with the earliest time of each milestone. -#}
{% macro accumulating_snapshot(source, keys, milestones) -%}
{%- set keys, milestones = merge_patterns.names(keys), merge_patterns.names(milestones) -%}
merge into {{ this }} as t
using (
    select
        {{ merge_patterns.listed(keys) }}
    {%- for each in milestones %},
        min({{ each | column_name }}) as {{ each | column_name }}
    {%- endfor %}
    from {{ source }}
    group by {{ merge_patterns.listed(keys) }}
) as s
    on {{ merge_patterns.joined(keys) }}
when matched and (
    {%- for each in milestones %}{% set name = each | column_name %}
    s.{{ name }} < t.{{ name }} or (t.{{ name }} is null and s.{{ name }} is not null){% if not loop.last %} or{% endif %}
    {%- endfor %}
) then update set
    {%- for each in milestones %}{% set name = each | column_name %}
    {{ name }} = least(t.{{ name }}, s.{{ name }}){% if not loop.last %},{% endif %}
    {%- endfor %}
when not matched then {{ merge_patterns.inserted(keys + milestones) }}
{%- endmacro %}
