{#- Every version of each key, by a hash of its values, with `valid_from`, `valid_to`, `is_current` and `row_hash`.
    A change that is older than the current version is left out. -#}
{% macro scd2(
    source, keys, columns, updated_at,
    valid_from='valid_from', valid_to='valid_to', is_current='is_current', row_hash='row_hash'
) -%}
{%- set keys, columns = merge_patterns.names(keys), merge_patterns.names(columns) -%}
{%- set since, until, current = valid_from | column_name, valid_to | column_name, is_current | column_name -%}
{%- set changed, hash = updated_at | column_name, row_hash | column_name -%}
{%- set key_list, value_list = merge_patterns.listed(keys), merge_patterns.listed(keys + columns) -%}
merge into {{ this }} as t
using (
    with known as (
        select
            {{ value_list }}, {{ changed }},
            {{ merge_patterns.row_hash(columns) }} as {{ hash }},
            false as is_stored
        from {{ source }}
        {%- if is_incremental() %}
        union all
        -- and the current versions of their keys
        select {{ merge_patterns.listed(keys + columns, 'v.') }}, v.{{ since }}, v.{{ hash }}, true
        from {{ this }} as v
        join (select distinct {{ key_list }} from {{ source }}) as c on {{ merge_patterns.joined(keys, 'v', 'c') }}
        where v.{{ until }} is null
        {%- endif %}
    ),
    ranked as (
        select
            *,
            row_number() over (
                partition by {{ key_list }}, {{ changed }} order by is_stored desc, {{ merge_patterns.last_first(columns) }}
            ) as nth_of_time,
            max(if(is_stored, {{ changed }}, null)) over (partition by {{ key_list }}) as stored_since
        from known
    ),
    newer as (
        select *, lag({{ hash }}) over (partition by {{ key_list }} order by {{ changed }}) as previous_hash
        from ranked
        where nth_of_time = 1 and (stored_since is null or {{ changed }} >= stored_since)
    )
    select
        {{ value_list }}, {{ hash }},
        {{ changed }} as {{ since }},
        lead({{ changed }}) over (partition by {{ key_list }} order by {{ changed }}) as {{ until }}
    from newer
    where previous_hash is null or previous_hash <> {{ hash }}
) as s
    on t.{{ until }} is null
    and {{ merge_patterns.joined(keys + [valid_from]) }}
when matched and s.{{ until }} is not null then update set {{ until }} = s.{{ until }}, {{ current }} = false
when not matched then
    insert ({{ value_list }}, {{ hash }}, {{ since }}, {{ until }}, {{ current }})
    values ({{ merge_patterns.listed(keys + columns + [row_hash, valid_from, valid_to], 's.') }}, s.{{ until }} is null)
{%- endmacro %}
