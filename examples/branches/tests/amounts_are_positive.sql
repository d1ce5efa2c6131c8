select * from {{ ref('agg_day') }} where amount <= 0
