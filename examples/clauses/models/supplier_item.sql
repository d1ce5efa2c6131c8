{{ config(materialized='ephemeral') }}
select item, name, colour from values (1L, 'chair', 'red'), (2L, 'table', null) as v(item, name, colour)
