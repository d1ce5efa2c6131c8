{{ config(materialized='ephemeral') }}
select region, station, celsius from values ('north', 1L, 4), ('north', 2L, 6), ('south', 1L, 21) as v(region, station, celsius)
