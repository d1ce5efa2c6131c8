{% macro changes_of(region) -%}
    select op, seq, changed_at, id, name
    from ({{ latest_change(source('crm', 'changes'), 'seq', 'changed_at') }})
    where region = {{ region | literal }}
{%- endmacro %}
