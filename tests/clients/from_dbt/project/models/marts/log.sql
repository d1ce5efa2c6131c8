{{ config(incremental_strategy='append') }}
select id, status, updated_at from {{ ref('stg_orders') }}
{% if is_incremental() %} where updated_at > (select max(updated_at) from {{ this }}) {% endif %}
