-- Type 2: close the current version, insert the new one.
WITH changes AS (
  SELECT s.id AS merge_key, s.* FROM staging.customer s
  UNION ALL
  SELECT NULL AS merge_key, s.*
  FROM staging.customer s JOIN dim.customer d ON s.id = d.id
  WHERE d.is_current AND NOT (d.name <=> s.name AND d.city <=> s.city)
)
MERGE WITH SCHEMA EVOLUTION INTO dim.customer AS d
USING changes AS c
ON d.id = c.merge_key AND d.is_current
WHEN MATCHED AND NOT (d.name <=> c.name AND d.city <=> c.city) THEN
  UPDATE SET d.is_current = false, d.valid_to = c.valid_from
WHEN NOT MATCHED THEN
  INSERT (id, name, city, valid_from, valid_to, is_current)
  VALUES (c.id, c.name, c.city, c.valid_from, NULL, true);
