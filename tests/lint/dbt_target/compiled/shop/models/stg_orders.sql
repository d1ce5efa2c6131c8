
select * from raw.events