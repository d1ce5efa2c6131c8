{# True where `column`, a delay in minutes, counts as late. #}
{% macro is_late(column) -%}
  {{ column }} >= {{ var('late_from_minutes') | literal }}
{%- endmacro %}

{#
  The measures that every aggregate of flights carries, over rows of fct_flight under the alias `flight`: lines of a
  SELECT list, for `indent` to put in their place.
#}
{% macro punctuality(flight) -%}
count({{ flight }}.status) as flights,
count_if({{ flight }}.status = 'cancelled') as cancelled,
count_if({{ flight }}.status = 'diverted') as diverted,
count_if({{ is_late(flight ~ '.arr_delay') }}) as late,
coalesce(sum({{ flight }}.dep_delay), 0) as dep_delay_minutes,
coalesce(sum({{ flight }}.arr_delay), 0) as arr_delay_minutes,
cast(avg({{ flight }}.arr_delay) as decimal(7, 2)) as mean_arr_delay
{%- endmacro %}
