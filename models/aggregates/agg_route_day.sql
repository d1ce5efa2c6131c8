{{ config(
    partition_by=['flight_month'],
    unique_key=['flight_month', 'flight_date', 'origin', 'dest'],
) }}

{% set measures = ['flights', 'cancelled', 'diverted', 'late', 'dep_delay_minutes', 'arr_delay_minutes',
                   'mean_arr_delay'] -%}

-- The window picks days, the partitions are months.
merge into {{ this }} as t
using (
    select
        f.flight_month,
        f.flight_date,
        f.origin,
        f.dest,
        {{ punctuality('f') | indent(8) }}
    from {{ ref('fct_flight') }} as f
    where {{ in_months('f.flight_month') }}
        and {{ in_window('f.flight_date') }}
    group by f.flight_month, f.flight_date, f.origin, f.dest
) as s
    on {{ in_months('t.flight_month') }}
    and t.flight_month = s.flight_month
    and t.flight_date = s.flight_date
    and t.origin = s.origin
    and t.dest = s.dest
when matched and {{ changed(measures) }} then update set *
when not matched then insert *
