merge into flights.fct_flight as t
using (
    select flight_date, carrier, flight, origin, dep_delay, updated_at
    from raw.flight
    where updated_at > timestamp'2024-01-01 00:00:00'
) as s
   on t.flight_date = s.flight_date and t.carrier = s.carrier -- the key
  and t.flight = s.flight and t.origin = s.origin
when matched and s.updated_at > t.updated_at then update set *
when not matched then insert *
