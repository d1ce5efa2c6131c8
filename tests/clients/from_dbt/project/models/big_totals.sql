select * from {{ ref('totals') }} where total > 1000
