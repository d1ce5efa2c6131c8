select id, name, city, updated_at from {{ source('raw', 'customers') }}
