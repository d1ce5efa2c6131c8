{{ config(
    enabled=var('batches', false),
    event_time='flight_date', batch_size='month', begin='2013-01-01', batches_at_once=12,
    partition_by=['flight_date'],
    unique_key=['flight_date', 'carrier'],
) }}

{% set measures = ['flights', 'cancelled', 'late_minutes'] -%}

-- One MERGE for each month, and for up to twelve at once: `--event-time-start 2013-02-01 --event-time-end 2013-03-01`.
merge into {{ this }} as t
using (
    select
        flight_date,
        carrier,
        count(*) as flights,
        count_if(status = 'cancelled') as cancelled,
        coalesce(sum(greatest(arr_delay, 0)), 0) as late_minutes
    from {{ ref('fct_flight') }}
    where flight_date >= {{ batch.start }} and flight_date < {{ batch.end }}
    group by flight_date, carrier
) as s
    on t.flight_date >= {{ batch.start }} and t.flight_date < {{ batch.end }}
    and t.flight_date = s.flight_date
    and t.carrier = s.carrier
when matched and {{ changed(measures) }} then update set *
when not matched then insert *
