{{ config(unique_key='region') }}
{% if is_incremental() %}
select region, count(*) as n from {{ ref('stg_orders') }} where region is not null group by region
{% else %}
select region, 1L as n from {{ ref('stg_orders') }}
{% endif %}
