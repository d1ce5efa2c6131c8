{#
  The window of a build: the days from `from`, inclusive, to `to`, exclusive.

      merge-runner build --vars '{from: 2013-01-01, to: 2013-02-01}'     all of January

  YAML reads 2013-01-01 as a date, a quoted '2013-01-01' as a string: both become the same date literal, so that ON
  compares a partition column with a literal of its own type and the engine skips every file outside of the window.
#}

{% macro window_start() -%}
  date {{ var('from') | string | literal }}
{%- endmacro %}

{% macro window_end() -%}
  date {{ var('to') | string | literal }}
{%- endmacro %}

{# True where `column`, a day, lies in the window. In a MERGE it belongs to both sides: ON and USING. #}
{% macro in_window(column) -%}
  ({{ column }} >= {{ window_start() }} and {{ column }} < {{ window_end() }})
{%- endmacro %}

{#
  True where `column`, the first day of a month, is a month that the window touches. A monthly aggregate is recomputed
  from its facts for these months as a whole, so that a window may begin or end on any day.
#}
{% macro in_months(column) -%}
  ({{ column }} >= trunc({{ window_start() }}, 'MM') and {{ column }} < {{ window_end() }})
{%- endmacro %}
