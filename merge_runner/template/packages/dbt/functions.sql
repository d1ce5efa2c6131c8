{#- What dbt's macros for all databases are in Spark SQL. -#}

{% macro current_timestamp() %}current_timestamp(){% endmacro %}
{% macro current_timestamp_backcompat() %}current_timestamp(){% endmacro %}
{% macro current_timestamp_in_utc_backcompat() %}current_timestamp(){% endmacro %}
{% macro snapshot_get_time() %}current_timestamp(){% endmacro %}
{% macro hash(field) %}md5(cast({{ field }} as string)){% endmacro %}
{% macro concat(fields) %}concat({{ fields | join(', ') }}){% endmacro %}
{% macro length(expression) %}length({{ expression }}){% endmacro %}
{% macro right(string_text, length_expression) %}right({{ string_text }}, {{ length_expression }}){% endmacro %}
{% macro position(substring_text, string_text) %}position({{ substring_text }} in {{ string_text }}){% endmacro %}
{% macro replace(field, old_chars, new_chars) %}replace({{ field }}, {{ old_chars }}, {{ new_chars }}){% endmacro %}
{% macro split_part(string_text, delimiter_text, part_number) -%}
    split_part({{ string_text }}, {{ delimiter_text }}, {{ part_number }})
{%- endmacro %}
{% macro string_literal(value) %}'{{ value }}'{% endmacro %}
{% macro escape_single_quotes(expression) %}{{ expression | replace("'", "\\'") }}{% endmacro %}

{% macro cast(field, type) %}cast({{ field }} as {{ type }}){% endmacro %}
{% macro safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro cast_bool_to_text(field) %}cast({{ field }} as string){% endmacro %}

{% macro any_value(expression) %}any_value({{ expression }}){% endmacro %}
{% macro bool_or(expression) %}bool_or({{ expression }}){% endmacro %}
{% macro listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
    {%- set values = 'collect_list(' ~ measure ~ ')' -%}
    {%- if order_by_clause -%}
        {{ exceptions.raise_compiler_error('dbt.listagg has no order on Spark: sort the array, as in array_sort(collect_list(x))') }}
    {%- endif -%}
    array_join({{ 'slice(' ~ values ~ ', 1, ' ~ limit_num ~ ')' if limit_num else values }}, {{ delimiter_text }})
{%- endmacro %}

{% macro array_construct(inputs=[], data_type=none) %}array({{ inputs | join(', ') }}){% endmacro %}
{% macro array_concat(array_1, array_2) %}concat({{ array_1 }}, {{ array_2 }}){% endmacro %}
{% macro array_append(array, new_element) %}array_append({{ array }}, {{ new_element }}){% endmacro %}

{% macro except() %}except{% endmacro %}
{% macro intersect() %}intersect{% endmacro %}

{% macro equals(expr1, expr2) %}({{ expr1 }} = {{ expr2 }}){% endmacro %}

{% macro date(year, month, day) -%}
    to_date('{{ modules.datetime.date(year, month, day).strftime('%Y-%m-%d') }}', 'yyyy-MM-dd')
{%- endmacro %}
{% macro date_trunc(datepart, date) %}date_trunc('{{ datepart }}', {{ date }}){% endmacro %}
{% macro last_day(date, datepart) -%}
    {%- if datepart == 'month' -%}
    last_day({{ date }})
    {%- else -%}
    cast(timestampadd({{ datepart }}, 1, date_trunc('{{ datepart }}', {{ date }})) as date) - 1
    {%- endif -%}
{%- endmacro %}
{% macro dateadd(datepart, interval, from_date_or_timestamp) -%}
    timestampadd({{ datepart }}, cast({{ interval }} as int), {{ from_date_or_timestamp }})
{%- endmacro %}

{#- How many boundaries of a part of the date there are between two points in time; a week begins on Sunday. -#}
{% macro datediff(first_date, second_date, datepart) -%}
    {%- if datepart == 'day' -%}
    datediff({{ second_date }}, {{ first_date }})
    {%- elif datepart == 'week' -%}
    cast(datediff(
        date_sub({{ second_date }}, dayofweek({{ second_date }}) - 1), date_sub({{ first_date }}, dayofweek({{ first_date }}) - 1)
    ) / 7 as int)
    {%- elif datepart == 'month' -%}
    (year({{ second_date }}) - year({{ first_date }})) * 12 + month({{ second_date }}) - month({{ first_date }})
    {%- elif datepart == 'quarter' -%}
    (year({{ second_date }}) - year({{ first_date }})) * 4 + quarter({{ second_date }}) - quarter({{ first_date }})
    {%- elif datepart == 'year' -%}
    year({{ second_date }}) - year({{ first_date }})
    {%- elif datepart in ('hour', 'minute', 'second') -%}
    timestampdiff({{ datepart }}, date_trunc('{{ datepart }}', {{ first_date }}), date_trunc('{{ datepart }}', {{ second_date }}))
    {%- else -%}
    {{ exceptions.raise_compiler_error('dbt.datediff takes year, quarter, month, week, day, hour, minute or second, not ' ~ datepart) }}
    {%- endif -%}
{%- endmacro %}

{#- dbt_utils asks the engine how many rows there are to be; here the statement itself does. -#}
{% macro spark__date_spine(datepart, start_date, end_date) -%}
    select timestampadd({{ datepart }}, nth, cast({{ start_date }} as timestamp)) as date_{{ datepart }}
    from (
        select explode(filter(sequence(0, greatest(parts, 1) - 1), nth -> nth < parts)) as nth
        from (
            select cast({{ dbt.datediff(start_date, end_date, datepart) }} as int) as parts
        )
    )
{%- endmacro %}
{% macro date_spine(datepart, start_date, end_date) %}{{ dbt.spark__date_spine(datepart, start_date, end_date) }}{% endmacro %}
{% macro generate_series(upper_bound) -%}
    select explode(sequence(1, {{ upper_bound }})) as generated_number
{%- endmacro %}
