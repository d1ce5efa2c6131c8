select f.day, f.amount, t.amount as total
from (select day, sum(amount) as amount from {{ ref('order_fact') }} group by day) as f
full outer join {{ ref('day_total') }} as t on t.day = f.day
where not (f.amount <=> t.amount)
