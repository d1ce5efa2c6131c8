select id, status {% if var('round', 1) > 1 %}, amount as since_two{% endif %} from {{ ref('stg_orders') }}
