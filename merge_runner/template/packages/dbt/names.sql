{#- What a project's own macros for the names of schemas and tables call in dbt. -#}

{% macro default__generate_schema_name(custom_schema_name=none, node=none) -%}
    {{ target.schema }}{{ '' if custom_schema_name is none else '_' ~ custom_schema_name | trim }}
{%- endmacro %}
{% macro generate_schema_name_for_env(custom_schema_name=none, node=none) -%}
    {{ target.schema if target.name != 'prod' or custom_schema_name is none else custom_schema_name | trim }}
{%- endmacro %}
{% macro default__generate_alias_name(custom_alias_name=none, node=none) -%}
    {{ node.name if custom_alias_name is none else custom_alias_name | trim }}
{%- endmacro %}
