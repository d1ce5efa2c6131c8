-- Merges as people write them for good reasons: lint may warn of what they scan, and finds no error in any of them.

-- layouts of what is merged below
CREATE TABLE sales.orders (order_id BIGINT, customer_id BIGINT, status STRING, amount DECIMAL(12, 2), updated_at TIMESTAMP, order_date DATE) USING delta PARTITIONED BY (order_date);
CREATE TABLE lake.crm.accounts (id BIGINT NOT NULL, name STRING, address STRUCT<city: STRING, zip: STRING>, tags ARRAY<STRING>, valid BOOLEAN, deleted_at TIMESTAMP) USING iceberg PARTITIONED BY (bucket(16, id));
CREATE TABLE hr.dim_employee (employee_key BIGINT GENERATED ALWAYS AS IDENTITY, employee_id STRING, dept STRING, valid_from DATE, valid_to DATE, is_current BOOLEAN) USING delta;
CREATE TABLE web.events (event_id STRING, kind STRING, payload MAP<STRING, STRING>, event_date DATE, loaded_at TIMESTAMP) USING delta PARTITIONED BY (event_date);
CREATE TABLE agg.daily (day DATE, country STRING, n BIGINT, amount DECIMAL(18, 2)) USING delta PARTITIONED BY (day);

-- 1 an upsert by a version column
MERGE INTO sales.orders AS t
USING (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY order_id, order_date ORDER BY updated_at DESC) AS rn FROM staging.orders) WHERE rn = 1) AS s
ON t.order_id = s.order_id AND t.order_date = s.order_date
WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET t.status = s.status, t.amount = s.amount, t.updated_at = s.updated_at
WHEN NOT MATCHED THEN INSERT (order_id, customer_id, status, amount, updated_at, order_date) VALUES (s.order_id, s.customer_id, s.status, s.amount, s.updated_at, s.order_date);

-- 2 the same within the days of the run
MERGE INTO sales.orders t USING staging.orders_today s
ON t.order_date >= DATE'2024-05-01' AND t.order_date = s.order_date AND t.order_id = s.order_id
WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;

-- 3 events that arrive twice
MERGE INTO web.events e USING (SELECT DISTINCT event_id, kind, payload['a'] AS a, event_date FROM raw.events) n
ON e.event_date = n.event_date AND e.event_id = n.event_id
WHEN NOT MATCHED THEN INSERT (event_id, kind, payload, event_date, loaded_at) VALUES (n.event_id, n.kind, map('a', n.a), n.event_date, current_timestamp());

-- 4 changes of another system, with deletes
MERGE INTO lake.crm.accounts AS t
USING (SELECT id, max_by(struct(op, name, city), ts) AS c FROM cdc.accounts GROUP BY id) AS s ON t.id = s.id
WHEN MATCHED AND s.c.op = 'D' THEN DELETE
WHEN MATCHED THEN UPDATE SET name = s.c.name, address.city = s.c.city
WHEN NOT MATCHED AND s.c.op <> 'D' THEN INSERT (id, name, address, tags, valid, deleted_at) VALUES (s.id, s.c.name, named_struct('city', s.c.city, 'zip', CAST(NULL AS STRING)), array(), true, NULL);

-- 5 soft deletes, taken back where the row comes again
MERGE INTO lake.crm.accounts t USING crm_export.accounts s ON t.id = s.id
WHEN MATCHED AND (t.name IS DISTINCT FROM s.name OR t.deleted_at IS NOT NULL) THEN UPDATE SET name = s.name, deleted_at = NULL, valid = true
WHEN NOT MATCHED THEN INSERT (id, name, address, tags, valid) VALUES (s.id, s.name, NULL, NULL, true)
WHEN NOT MATCHED BY SOURCE AND t.deleted_at IS NULL THEN UPDATE SET deleted_at = current_timestamp(), valid = false;

-- 6 a history with a row for each version (type 2), by a second row for what is closed
MERGE INTO hr.dim_employee AS t
USING (
  SELECT s.employee_id AS merge_key, s.* FROM staging.employee s
  UNION ALL
  SELECT NULL AS merge_key, s.* FROM staging.employee s
    JOIN hr.dim_employee d ON d.employee_id = s.employee_id WHERE d.is_current AND d.dept <> s.dept
) AS s ON t.employee_id = s.merge_key
WHEN MATCHED AND t.is_current AND t.dept <> s.dept THEN UPDATE SET is_current = false, valid_to = s.effective_date
WHEN NOT MATCHED THEN INSERT (employee_id, dept, valid_from, valid_to, is_current) VALUES (s.employee_id, s.dept, s.effective_date, NULL, true);

-- 7 a full snapshot of a small table
MERGE INTO ref.country t USING export.country s ON t.code = s.code
WHEN MATCHED AND NOT (t.name <=> s.name AND t.region <=> s.region) THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
WHEN NOT MATCHED BY SOURCE THEN DELETE;

-- 8 a day that is computed again as a whole
MERGE INTO agg.daily t
USING (SELECT order_date AS day, country, count(*) AS n, sum(amount) AS amount FROM sales.enriched WHERE order_date = DATE'2024-05-03' GROUP BY order_date, country) s
ON t.day = DATE'2024-05-03' AND t.day = s.day AND t.country <=> s.country
WHEN MATCHED THEN UPDATE SET n = s.n, amount = s.amount
WHEN NOT MATCHED THEN INSERT *
WHEN NOT MATCHED BY SOURCE AND t.day = DATE'2024-05-03' THEN DELETE;

-- 9 the last days, cleared where they have gone
MERGE INTO agg.daily t
USING (SELECT day, country, n, amount FROM calc.daily WHERE day >= current_date() - INTERVAL 3 DAYS) s ON t.day = s.day AND t.country = s.country
WHEN MATCHED THEN UPDATE SET n = s.n, amount = s.amount
WHEN NOT MATCHED THEN INSERT *
WHEN NOT MATCHED BY SOURCE AND t.day >= current_date() - INTERVAL 3 DAYS THEN DELETE;

-- 10 requests to be forgotten
MERGE INTO lake.crm.accounts t USING (SELECT DISTINCT user_id FROM gdpr.requests WHERE done_at IS NULL) r ON t.id = r.user_id
WHEN MATCHED THEN DELETE;

-- 11 an attribute that is filled in later
MERGE INTO sales.orders t USING (SELECT order_id, any_value(customer_id) AS customer_id FROM crm.matches GROUP BY order_id) s ON t.order_id = s.order_id
WHEN MATCHED AND t.customer_id IS NULL THEN UPDATE SET customer_id = s.customer_id;

-- 12 a comparison of hashes
MERGE INTO dw.customer t
USING (SELECT id, name, email, sha2(concat_ws('|', coalesce(name, ''), coalesce(email, '')), 256) AS row_hash FROM staging.customer) s ON t.id = s.id
WHEN MATCHED AND t.row_hash <> s.row_hash THEN UPDATE SET name = s.name, email = s.email, row_hash = s.row_hash
WHEN NOT MATCHED THEN INSERT (id, name, email, row_hash) VALUES (s.id, s.name, s.email, s.row_hash);

-- 13 the greatest value that was seen
MERGE INTO iot.last_seen t USING (SELECT device_id, max(ts) AS ts FROM iot.readings GROUP BY device_id) s ON t.device_id = s.device_id
WHEN MATCHED THEN UPDATE SET ts = greatest(t.ts, s.ts)
WHEN NOT MATCHED THEN INSERT (device_id, ts) VALUES (s.device_id, s.ts);

-- 14 WITH in front, names in backquotes, comments
WITH recent AS (SELECT `order id`, max(`amount due`) AS due FROM billing.`invoice lines` GROUP BY `order id`)
MERGE INTO billing.`open items` AS t /* by order */ USING recent AS s
ON t.`order id` = s.`order id` -- the key
WHEN MATCHED AND t.due <> s.due THEN UPDATE SET t.due = s.due
WHEN NOT MATCHED THEN INSERT (`order id`, due) VALUES (s.`order id`, s.due);

-- 15 columns that the source adds
MERGE WITH SCHEMA EVOLUTION INTO web.sessions t USING staging.sessions s ON t.session_id = s.session_id
WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;

-- 16 rows past a watermark, none of which is removed
MERGE INTO web.page_views t
USING (SELECT * FROM raw.page_views WHERE loaded_at > (SELECT coalesce(max(loaded_at), TIMESTAMP'1970-01-01 00:00:00') FROM web.page_views)) s
ON t.view_id = s.view_id
WHEN NOT MATCHED THEN INSERT *;

-- 17 two sources, the first of which wins
MERGE INTO dw.contact t
USING (
  SELECT id, email FROM (
    SELECT id, email, row_number() OVER (PARTITION BY id ORDER BY prio) AS nr
    FROM (SELECT id, email, 1 AS prio FROM crm.contact UNION ALL SELECT id, email, 2 FROM shop.contact)
  ) WHERE nr = 1
) s ON t.id = s.id
WHEN MATCHED AND s.email IS NOT NULL AND NOT t.email <=> s.email THEN UPDATE SET email = s.email
WHEN NOT MATCHED THEN INSERT (id, email) VALUES (s.id, s.email);

-- 18 keys of several columns, some of which may be NULL
MERGE INTO dw.price t USING staging.price s ON t.sku = s.sku AND t.region <=> s.region AND t.valid_from = s.valid_from
WHEN MATCHED THEN UPDATE SET price = s.price, currency = s.currency
WHEN NOT MATCHED THEN INSERT (sku, region, valid_from, price, currency) VALUES (s.sku, s.region, s.valid_from, s.price, s.currency);

-- 19 a status that moves in one direction
MERGE INTO sales.shipment t USING staging.shipment s ON t.shipment_id = s.shipment_id
WHEN MATCHED AND t.status = 'open' AND s.status IN ('sent', 'lost') THEN UPDATE SET status = s.status, closed_at = s.ts
WHEN MATCHED AND t.status = 'sent' AND s.status = 'returned' THEN UPDATE SET status = s.status
WHEN NOT MATCHED AND s.status = 'open' THEN INSERT (shipment_id, status) VALUES (s.shipment_id, s.status);

-- 20 rows that were flattened from JSON
MERGE INTO shop.order_line t
USING (SELECT o.order_id, l.pos, l.sku, CAST(l.qty AS INT) AS qty FROM raw.orders o LATERAL VIEW explode(from_json(o.body, 'array<struct<pos: int, sku: string, qty: string>>')) x AS l) s
ON t.order_id = s.order_id AND t.pos = s.pos
WHEN MATCHED THEN UPDATE SET sku = s.sku, qty = s.qty
WHEN NOT MATCHED THEN INSERT (order_id, pos, sku, qty) VALUES (s.order_id, s.pos, s.sku, s.qty);

-- 21 an array that gets one element more
MERGE INTO lake.crm.accounts t USING (SELECT id, max(tag) AS tag FROM crm.new_tags GROUP BY id) s ON t.id = s.id
WHEN MATCHED AND NOT array_contains(t.tags, s.tag) THEN UPDATE SET tags = array_append(coalesce(t.tags, array()), s.tag);

-- 22 an update of those that another table lists
MERGE INTO hr.salary t USING (SELECT e.id, g.factor FROM hr.employee e JOIN hr.grade g ON g.grade = e.grade) s ON t.employee_id = s.id
WHEN MATCHED AND t.year = 2024 AND t.adjusted = false THEN UPDATE SET amount = t.amount * s.factor, adjusted = true;

-- 23 months, by a partition column that is derived from the day
MERGE INTO dw.revenue t USING (SELECT date_trunc('MONTH', day) AS month, sum(amount) AS amount FROM agg.daily GROUP BY date_trunc('MONTH', day)) s
ON t.month = s.month
WHEN MATCHED AND t.amount <> s.amount THEN UPDATE SET amount = s.amount
WHEN NOT MATCHED THEN INSERT (month, amount) VALUES (s.month, s.amount);

-- 24 a lookup whose key is given by the table
MERGE INTO hr.dim_employee t USING (SELECT DISTINCT employee_id, dept FROM staging.badge) s ON t.employee_id = s.employee_id AND t.is_current
WHEN NOT MATCHED THEN INSERT (employee_id, dept, valid_from, is_current) VALUES (s.employee_id, coalesce(s.dept, 'unknown'), current_date(), true);

-- 25 a table that is read as of a version
MERGE INTO dw.stock t USING (SELECT sku, sum(qty) AS qty FROM wms.stock VERSION AS OF 12 GROUP BY sku) s ON t.sku = s.sku
WHEN MATCHED THEN UPDATE SET qty = s.qty
WHEN NOT MATCHED THEN INSERT (sku, qty) VALUES (s.sku, s.qty)
WHEN NOT MATCHED BY SOURCE AND t.qty <> 0 THEN UPDATE SET qty = 0;

-- 26 changes of a table, the last one of each key
MERGE INTO dw.customer_copy t
USING (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY _commit_version DESC) AS nr FROM table_changes('dw.customer', 5) WHERE _change_type <> 'update_preimage') WHERE nr = 1) s
ON t.id = s.id
WHEN MATCHED AND s._change_type = 'delete' THEN DELETE
WHEN MATCHED THEN UPDATE SET name = s.name, email = s.email
WHEN NOT MATCHED AND s._change_type <> 'delete' THEN INSERT (id, name, email) VALUES (s.id, s.name, s.email);

-- 27 texts that are normalized on both sides
MERGE INTO dw.domain t USING (SELECT lower(trim(domain)) AS domain, count(*) AS visits FROM web.visits GROUP BY lower(trim(domain))) s ON t.domain = s.domain
WHEN MATCHED THEN UPDATE SET visits = s.visits
WHEN NOT MATCHED THEN INSERT (domain, visits) VALUES (s.domain, s.visits);

-- 28 a key that is hashed from the columns of the source
MERGE INTO dv.hub_customer t
USING (SELECT DISTINCT sha2(upper(trim(customer_no)), 256) AS hub_key, upper(trim(customer_no)) AS customer_no FROM staging.customer WHERE customer_no IS NOT NULL) s ON t.hub_key = s.hub_key
WHEN NOT MATCHED THEN INSERT (hub_key, customer_no, load_date) VALUES (s.hub_key, s.customer_no, current_timestamp());

-- 29 one row that is a counter of runs
MERGE INTO ops.run_log t USING (SELECT 'orders' AS job, current_timestamp() AS at) s ON t.job = s.job
WHEN MATCHED THEN UPDATE SET runs = t.runs + 1, last_run = s.at
WHEN NOT MATCHED THEN INSERT (job, runs, last_run) VALUES (s.job, 1, s.at);

-- 30 sessions that are made longer, or begin
MERGE INTO web.session t USING (SELECT user_id, min(ts) AS first, max(ts) AS last FROM web.click GROUP BY user_id) s
ON t.user_id = s.user_id AND s.first <= t.last + INTERVAL 30 MINUTES AND s.last >= t.first
WHEN MATCHED THEN UPDATE SET first = least(t.first, s.first), last = greatest(t.last, s.last)
WHEN NOT MATCHED THEN INSERT (user_id, first, last) VALUES (s.user_id, s.first, s.last);

-- 31 defaults and generated columns that the statement leaves to the table
CREATE TABLE dw.audit (id BIGINT, ts TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(ts AS DATE)), source STRING DEFAULT 'app') USING delta PARTITIONED BY (day);
MERGE INTO dw.audit t USING app.audit s ON t.day = CAST(s.ts AS DATE) AND t.id = s.id
WHEN NOT MATCHED THEN INSERT (id, ts) VALUES (s.id, s.ts);

-- 32 a snapshot by which only what belongs to one tenant is removed
MERGE INTO saas.item t USING (SELECT * FROM tenant_7.item) s ON t.tenant = 7 AND t.item_id = s.item_id
WHEN MATCHED THEN UPDATE SET name = s.name
WHEN NOT MATCHED THEN INSERT (tenant, item_id, name) VALUES (7, s.item_id, s.name)
WHEN NOT MATCHED BY SOURCE AND t.tenant = 7 THEN DELETE;
