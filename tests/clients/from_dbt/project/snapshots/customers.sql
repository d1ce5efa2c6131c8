{% snapshot customers_history %}
{{ config(unique_key='id', strategy='timestamp', updated_at='updated_at') }}
select * from {{ source('raw', 'customers') }}
{% endsnapshot %}

{% snapshot customers_checked %}
{{ config(unique_key='id', strategy='check', check_cols=['name', 'city'], invalidate_hard_deletes=true) }}
select id, name, city, updated_at from {{ source('raw', 'customers') }}
{% endsnapshot %}
