-- Where one side is below a third of the other, as the four orders of day 1 are: a hash table of it, and nothing is sorted.
{{ config(
    partition_by='region',
    scan='full',
    properties={'write.merge.mode': 'merge-on-read'},
    conf={'spark.sql.join.preferSortMergeJoin': 'false'},
) }}

merge into {{ this }} as t
using {{ ref('stg_order') }} as s
    on t.region = s.region and t.order_id = s.order_id
when matched then update set *
when not matched then insert *
