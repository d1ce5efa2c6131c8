{{ config(unique_key='order_id', scan='full', retries=var('retries') | int) }}

merge into {{ this }} as t
using (
    select id % 4 as order_id, count(*) as pieces
    from range(0, 1000, 1, 1)
    {%- if var('column') %}
    -- Delta has looked at the table by now: it computes the source inside of the transaction.
    where {{ told('merging') }} and {{ heard('altered') }}
    {%- endif %}
    group by id % 4
) as s
    on t.order_id = s.order_id
when matched then update set t.pieces = t.pieces + s.pieces -- noqa: C015 -- each build brings new pieces
when not matched then insert (order_id, pieces) values (s.order_id, s.pieces)
