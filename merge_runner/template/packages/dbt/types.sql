{#- The names of types that dbt's macros for all databases have, as Spark has them. -#}

{% macro type_string() %}string{% endmacro %}
{% macro type_timestamp() %}timestamp{% endmacro %}
{% macro type_float() %}float{% endmacro %}
{% macro type_numeric() %}decimal(28, 6){% endmacro %}
{% macro type_bigint() %}bigint{% endmacro %}
{% macro type_int() %}int{% endmacro %}
{% macro type_boolean() %}boolean{% endmacro %}
