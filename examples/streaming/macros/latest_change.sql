{#- The last change of each key in a batch: a MERGE may not meet a target row twice, and changes come twice and in disorder. -#}
{% macro latest_change(changes, key, sequence) -%}
    select * from (
        select *, row_number() over (partition by {{ key }} order by {{ sequence }} desc) as nth_last from {{ changes }}
    ) where nth_last = 1
{%- endmacro %}
