{#- Stands for a program that knows nothing of this project: what a hook does to a table of another model, no lock and no order of models sees. -#}
{{ config(
    materialized='view',
    enabled=var('column') != '',
    pre_hook=[
        "select count(*) from range(0, 1000, 1, 1) where {{ heard('merging') }}",
        "alter table {{ target.schema }}.orders add columns ({{ var('column') | identifier }} string)",
        "select {{ told('altered') }}",
    ],
) }}
select 1 as done
