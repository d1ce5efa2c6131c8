{#
  True where one of `columns` differs between target and source; NULL equals NULL. As the condition of WHEN MATCHED it
  keeps a build that brings nothing new from updating a row.
#}
{% macro changed(columns, target='t', source='s') -%}
  not (
  {%- for column in columns -%}
    {{ target }}.{{ column }} <=> {{ source }}.{{ column }}
    {%- if not loop.last %} and {% endif %}
  {%- endfor -%}
  )
{%- endmacro %}
