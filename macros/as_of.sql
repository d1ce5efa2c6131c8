{#
  The moment up to which corrections count, exclusive: the project as it was known then.

      merge-runner build --vars '{as_of: 2013-02-01}'
#}
{% macro as_of() -%}
  timestamp {{ var('as_of') | string | literal }}
{%- endmacro %}
