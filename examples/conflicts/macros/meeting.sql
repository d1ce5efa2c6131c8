{#- Two statements of one Spark wait for each other, so that the example goes the same way each time: by properties of the JVM that
    they run in. No project needs this. -#}

{% macro told(what) -%}
    reflect('java.lang.System', 'setProperty', {{ _named(what) }}, 'yes') is not null
{%- endmacro %}

{#- A condition on rows: each takes 50 ms as long as nobody has told. -#}
{% macro heard(what) -%}
    reflect('java.lang.Thread', 'sleep', if(reflect('java.lang.System', 'getProperty', {{ _named(what) }}) = 'yes', 0L, 50L)) is not null
{%- endmacro %}

{% macro _named(what) -%}
    {{ (target.schema ~ '.' ~ var('column') ~ '.' ~ what) | literal }}
{%- endmacro %}
