{{ config(unique_key='id', tags=['daily']) }}
select o.id, r.name as region from {{ ref('stg_orders') }} as o left join {{ ref('regions') }} as r on r.region = o.region
