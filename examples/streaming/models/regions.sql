-- What follows in the DAG is merged with the batch as well.
{{ config(unique_key='region', scan='full') }}

merge into {{ this }} as t
using (select region, count(*) as customers from {{ ref('customers') }} where not is_deleted group by region) as s
   on t.region <=> s.region
when matched then update set *
when not matched then insert *
when not matched by source then delete
