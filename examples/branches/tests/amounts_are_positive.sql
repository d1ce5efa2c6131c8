select * from {{ ref('agg_day') }} as d
where exists (select 1 from {{ ref('fct_order') }} as f where f.day = d.day and f.amount <= 0)
