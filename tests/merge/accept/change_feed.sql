MERGE INTO lake.sales.orders AS t
USING (
  SELECT * EXCEPT (n) FROM (
    SELECT *, row_number() OVER (PARTITION BY order_id ORDER BY _commit_version DESC) AS n
    FROM table_changes('raw.orders', 5, 9)
    WHERE _change_type != 'update_preimage'
  ) WHERE n = 1
) AS s
ON t.order_id = s.order_id AND t.day IN (DATE'2024-05-01', DATE'2024-05-02')
WHEN MATCHED AND s._change_type = 'delete' THEN DELETE
WHEN MATCHED AND coalesce(s.amount, 0) BETWEEN 1 AND 100 THEN
  UPDATE SET amount = CASE WHEN s.amount > t.amount THEN s.amount ELSE t.amount END,
             tags = map('a', 1, 'b', 2)['a'], note = 'it''s late'
WHEN NOT MATCHED AND s._change_type <> 'delete' THEN
  INSERT (order_id, day, amount) VALUES (s.order_id, to_date(s.ts), s.amount)
WHEN NOT MATCHED BY SOURCE AND t.day < current_date() - INTERVAL 90 DAYS THEN DELETE
