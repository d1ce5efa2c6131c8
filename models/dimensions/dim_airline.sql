{{ config(unique_key=['carrier']) }}

merge into {{ this }} as t
using (
    select a.carrier, a.name
    from {{ ref('stg_airline') }} as a
) as s
    on t.carrier = s.carrier
when matched and {{ changed(['name']) }} then update set t.name = s.name
when not matched then insert (carrier, name) values (s.carrier, s.name)
