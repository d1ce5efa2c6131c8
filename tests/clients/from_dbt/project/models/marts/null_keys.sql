{{ config(unique_key='region') }}
select region, max(amount) as highest from {{ ref('stg_orders') }} group by region
