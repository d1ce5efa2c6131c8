select count(*) as n from {{ ref('overwritten') }}
