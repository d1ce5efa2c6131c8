{#- What the patterns have in common. -#}

{% macro names(given) %}{{ return([given] if given is string else given | list) }}{% endmacro %}

{% macro listed(columns, prefix='') -%}
    {%- for column in columns %}{{ prefix }}{{ column | column_name }}{% if not loop.last %}, {% endif %}{% endfor -%}
{%- endmacro %}

{% macro all_of(conditions) %}{{ return(conditions | join('\n    and ')) }}{% endmacro %}

{% macro joined(keys, old='t', new='s') -%}
    {%- for key in keys -%}
        {% set name = key | column_name %}{{ old }}.{{ name }} = {{ new }}.{{ name }}{% if not loop.last %} and {% endif %}
    {%- endfor -%}
{%- endmacro %}

{% macro differs(columns, old='t', new='s') -%}
    not (
    {%- for column in columns -%}
        {% set name = column | column_name %}{{ new }}.{{ name }} <=> {{ old }}.{{ name }}{% if not loop.last %} and {% endif %}
    {%- endfor -%}
    )
{%- endmacro %}

{% macro assigned(columns) -%}
    {%- for column in columns -%}
        {% set name = column | column_name %}{{ name }} = s.{{ name }}{% if not loop.last %}, {% endif %}
    {%- endfor -%}
{%- endmacro %}

{% macro inserted(columns) -%}
    insert ({{ merge_patterns.listed(columns) }})
    values ({{ merge_patterns.listed(columns, 's.') }})
{%- endmacro %}

{% macro last_first(columns) -%}
    {%- for column in columns %}{{ column | column_name }} desc{% if not loop.last %}, {% endif %}{% endfor -%}
{%- endmacro %}

{#- The rows of the source, of each key the one that is last by `sequence_by`; the other columns decide between equals. -#}
{% macro latest(source, keys, columns, sequence_by, condition=none) -%}
{%- set all = keys + columns + [sequence_by] -%}
(
    select {{ merge_patterns.listed(all) }}
    from (
        select
            {{ merge_patterns.listed(all) }},
            row_number() over (
                partition by {{ merge_patterns.listed(keys) }} order by {{ merge_patterns.last_first([sequence_by] + columns) }}
            ) as nth_of_key
        from {{ source }}
        {%- if condition %}
        where {{ condition }}
        {%- endif %}
    )
    where nth_of_key = 1
)
{%- endmacro %}

{#- A hash of the columns that differs where any of them does, NULL or not: each value goes in with its length. -#}
{% macro row_hash(columns, indent=12) -%}
    sha2(concat(
    {%- for column in columns -%}
        {% set text = 'cast(' ~ column | column_name ~ ' as string)' %}
{{ ' ' * (indent + 4) }}coalesce(concat(length({{ text }}), ':', {{ text }}), '-'){% if not loop.last %},{% endif %}
    {%- endfor %}
{{ ' ' * indent }}), 256)
{%- endmacro %}

{#- `window`: a column, its first value and the one after its last. -#}
{% macro in_window(window, side='') -%}
    {%- set column = side ~ window[0] | column_name -%}
    {{ column }} >= {{ window[1] | literal }} and {{ column }} < {{ window[2] | literal }}
{%- endmacro %}

{% macro in_partition(partition, side='') -%}
    {%- for column, value in partition.items() -%}
        {{ side }}{{ column | column_name }} = {{ value | literal }}{% if not loop.last %} and {% endif %}
    {%- endfor -%}
{%- endmacro %}
