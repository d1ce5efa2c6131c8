{{ config(materialized='ephemeral') }}
select item, pieces from values (1L, 5), (2L, 40), (3L, 0) as v(item, pieces)
