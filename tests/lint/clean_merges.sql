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

-- layouts of what is merged below: keys NOT NULL, partitions by transforms
CREATE TABLE cdc.customers (customer_id BIGINT NOT NULL, email STRING, tier STRING, src_lsn BIGINT NOT NULL, is_deleted BOOLEAN, updated_ts TIMESTAMP) USING delta CLUSTER BY (customer_id);
CREATE TABLE lake.pay.ledger (entry_id STRING NOT NULL, account_id BIGINT NOT NULL, amount DECIMAL(18, 2), currency STRING, booked_on DATE NOT NULL, corrected_at TIMESTAMP) USING iceberg PARTITIONED BY (bucket(32, account_id), month(booked_on));
CREATE TABLE dwh.dim_product (product_sk STRING NOT NULL, product_code STRING NOT NULL, category STRING, list_price DECIMAL(10, 2), attr_hash STRING, eff_from TIMESTAMP, eff_to TIMESTAMP, current_flag STRING) USING delta;
CREATE TABLE dwh.fact_sales (sale_id BIGINT NOT NULL, date_key INT NOT NULL, product_sk STRING, store_sk STRING, qty INT, net DECIMAL(18, 4)) USING delta PARTITIONED BY (date_key);
CREATE TABLE ml.features (entity_id STRING NOT NULL, feature_ts TIMESTAMP NOT NULL, clicks_7d BIGINT, spend_30d DOUBLE, tags MAP<STRING, STRING>, ds DATE) USING iceberg PARTITIONED BY (ds);
CREATE TABLE ops.device_state (tenant STRING NOT NULL, device STRING NOT NULL, state STRUCT<mode: STRING, fw: STRING, seen: TIMESTAMP>, battery DOUBLE, version INT) USING delta PARTITIONED BY (tenant);
CREATE TABLE stg.sales (sale_id BIGINT, sold_at TIMESTAMP, product_code STRING, store_code STRING, qty INT, net DECIMAL(18, 4)) USING delta;

-- 33 an envelope of Debezium: before and after, the last change of a key, tombstones left out
MERGE INTO cdc.customers AS tgt
USING (
  SELECT k.customer_id, c.op, c.after.email AS email, c.after.tier AS tier, c.source.lsn AS lsn, timestamp_millis(c.ts_ms) AS ts
  FROM (
    SELECT key.customer_id, max_by(value, value.source.lsn) AS c FROM kafka.customers WHERE value IS NOT NULL GROUP BY key.customer_id
  ) AS k
) AS src
ON tgt.customer_id = src.customer_id
WHEN MATCHED AND src.lsn > tgt.src_lsn AND src.op = 'd' THEN UPDATE SET is_deleted = true, src_lsn = src.lsn, updated_ts = src.ts
WHEN MATCHED AND src.lsn > tgt.src_lsn THEN UPDATE SET email = src.email, tier = src.tier, is_deleted = false, src_lsn = src.lsn, updated_ts = src.ts
WHEN NOT MATCHED AND src.op <> 'd' THEN INSERT (customer_id, email, tier, src_lsn, is_deleted, updated_ts) VALUES (src.customer_id, src.email, src.tier, src.lsn, false, src.ts);

-- 34 the same with row_number, of a batch that has each change several times
WITH changes AS (
  SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY lsn DESC, ts_ms DESC) AS newest FROM bronze.customers_cdc WHERE batch_day BETWEEN '2024-06-01' AND '2024-06-02'
)
MERGE INTO cdc.customers t
USING (SELECT customer_id, email, tier, lsn, op, ts FROM changes WHERE newest = 1) s
ON s.customer_id = t.customer_id
WHEN MATCHED AND s.op = 'DELETE' AND s.lsn >= t.src_lsn THEN DELETE
WHEN MATCHED AND s.lsn > t.src_lsn THEN UPDATE SET t.email = s.email, t.tier = s.tier, t.src_lsn = s.lsn, t.updated_ts = s.ts
WHEN NOT MATCHED AND s.op IN ('INSERT', 'UPDATE') THEN INSERT (customer_id, email, tier, src_lsn, is_deleted, updated_ts) VALUES (s.customer_id, s.email, s.tier, s.lsn, false, s.ts);

-- 35 overwritten attributes (type 1), compared column by column without regard to NULL
MERGE INTO dwh.dim_store AS d
USING (
  SELECT store_code, upper(trim(name)) AS name, coalesce(region, 'unknown') AS region
  FROM (SELECT *, dense_rank() OVER (PARTITION BY store_code ORDER BY loaded_at DESC, file_name) AS rk FROM stg.store) WHERE rk = 1
) AS s
ON d.store_code = s.store_code
WHEN MATCHED AND (NOT d.name <=> s.name OR NOT d.region <=> s.region) THEN UPDATE SET d.name = s.name, d.region = s.region, d.updated_at = current_timestamp()
WHEN NOT MATCHED THEN INSERT (store_code, name, region, created_at, updated_at) VALUES (s.store_code, s.name, s.region, current_timestamp(), current_timestamp());

-- 36 versions by a hash of attributes (type 2): a row to close and a row to open, told apart by a key that is NULL
MERGE INTO dwh.dim_product AS d
USING (
  WITH n AS (
    SELECT product_code, category, list_price, sha2(concat_ws('||', coalesce(category, '~'), coalesce(CAST(list_price AS STRING), '~')), 256) AS attr_hash, extracted_at
    FROM stg.product
  )
  SELECT n.product_code AS match_code, n.* FROM n
  UNION ALL
  SELECT CAST(NULL AS STRING), n.* FROM n JOIN dwh.dim_product c ON c.product_code = n.product_code AND c.current_flag = 'Y' AND c.attr_hash <> n.attr_hash
) AS s
ON d.product_code = s.match_code AND d.current_flag = 'Y'
WHEN MATCHED AND d.attr_hash <> s.attr_hash THEN UPDATE SET eff_to = s.extracted_at, current_flag = 'N'
WHEN NOT MATCHED THEN INSERT (product_sk, product_code, category, list_price, attr_hash, eff_from, eff_to, current_flag)
  VALUES (md5(concat(s.product_code, CAST(s.extracted_at AS STRING))), s.product_code, s.category, s.list_price, s.attr_hash, s.extracted_at, TIMESTAMP'9999-12-31 00:00:00', 'Y');

-- 37 late corrections of an Iceberg table with buckets: only rows that exist, only newer ones
MERGE INTO lake.pay.ledger t
USING (
  SELECT entry_id, account_id, booked_on, max_by(amount, corrected_at) AS amount, max(corrected_at) AS corrected_at
  FROM inbox.corrections WHERE booked_on >= DATE'2024-04-01' GROUP BY entry_id, account_id, booked_on
) c
ON t.account_id = c.account_id AND t.booked_on = c.booked_on AND t.booked_on >= DATE'2024-04-01' AND t.entry_id = c.entry_id
WHEN MATCHED AND (t.corrected_at IS NULL OR c.corrected_at > t.corrected_at) THEN UPDATE SET amount = c.amount, corrected_at = c.corrected_at;

-- 38 the whole of an account's month from a full extract: what the extract has no longer is removed
MERGE INTO lake.pay.ledger t
USING (SELECT entry_id, account_id, amount, currency, booked_on FROM bank.full_extract) s
ON t.account_id = s.account_id AND t.entry_id = s.entry_id
WHEN MATCHED AND (t.amount <> s.amount OR t.currency <> s.currency) THEN UPDATE SET amount = s.amount, currency = s.currency
WHEN NOT MATCHED THEN INSERT (entry_id, account_id, amount, currency, booked_on) VALUES (s.entry_id, s.account_id, s.amount, s.currency, s.booked_on)
WHEN NOT MATCHED BY SOURCE THEN DELETE;

-- 39 a partial update: what the message leaves out stays as it is
MERGE INTO ops.device_state d
USING (SELECT tenant, device, mode, fw, battery, version FROM (SELECT *, row_number() OVER (PARTITION BY tenant, device ORDER BY version DESC) AS r FROM mqtt.state) WHERE r = 1) m
ON d.tenant = m.tenant AND d.device = m.device
WHEN MATCHED AND m.version > d.version THEN UPDATE SET state.mode = coalesce(m.mode, d.state.mode), state.fw = coalesce(m.fw, d.state.fw), battery = coalesce(m.battery, d.battery), version = m.version
WHEN NOT MATCHED THEN INSERT (tenant, device, state, battery, version) VALUES (m.tenant, m.device, named_struct('mode', m.mode, 'fw', m.fw, 'seen', current_timestamp()), m.battery, m.version);

-- 40 a window that is replaced: all of its rows out, those of the query in
MERGE INTO dwh.fact_sales t
USING (SELECT sale_id, CAST(date_format(sold_at, 'yyyyMMdd') AS INT) AS date_key, qty, net FROM stg.sales WHERE sold_at >= TIMESTAMP'2024-06-01 00:00:00') s
ON false
WHEN NOT MATCHED THEN INSERT (sale_id, date_key, qty, net) VALUES (s.sale_id, s.date_key, s.qty, s.net)
WHEN NOT MATCHED BY SOURCE AND t.date_key >= 20240601 THEN DELETE;

-- 41 a key that is hashed from columns that are never NULL
MERGE INTO vault.hub_order h
USING (SELECT DISTINCT md5(concat_ws('||', CAST(sale_id AS STRING), coalesce(store_code, ''))) AS hub_hk, sale_id, store_code FROM stg.sales WHERE sale_id IS NOT NULL) s
ON h.hub_hk = s.hub_hk
WHEN NOT MATCHED THEN INSERT (hub_hk, sale_id, store_code, load_ts, record_source) VALUES (s.hub_hk, s.sale_id, s.store_code, current_timestamp(), 'pos');

-- 42 facts with their keys looked up, unknown ones as -1, a member that comes late filled in
MERGE INTO dwh.fact_sales f
USING (
  SELECT s.sale_id, CAST(date_format(s.sold_at, 'yyyyMMdd') AS INT) AS date_key, coalesce(p.product_sk, '-1') AS product_sk, coalesce(st.store_sk, '-1') AS store_sk, s.qty, s.net
  FROM stg.sales s
  LEFT JOIN (SELECT product_code, max(product_sk) AS product_sk FROM dwh.dim_product WHERE current_flag = 'Y' GROUP BY product_code) p ON p.product_code = s.product_code
  LEFT JOIN dwh.dim_store st ON st.store_code = s.store_code
  WHERE s.sold_at >= date_sub(current_date(), 3)
) s
ON f.date_key = s.date_key AND f.sale_id = s.sale_id
WHEN MATCHED AND (f.product_sk = '-1' OR f.store_sk = '-1' OR f.qty <> s.qty OR f.net <> s.net) THEN UPDATE SET product_sk = s.product_sk, store_sk = s.store_sk, qty = s.qty, net = s.net
WHEN NOT MATCHED THEN INSERT *;

-- 43 rows past a watermark, per table of a control table
MERGE INTO raw_vault.sat_customer t
USING (SELECT c.* FROM landing.customer c CROSS JOIN (SELECT coalesce(max(high_water), TIMESTAMP'1900-01-01 00:00:00') AS w FROM ctl.loads WHERE table_name = 'customer') m WHERE c.changed_at > m.w) s
ON t.customer_hk = s.customer_hk AND t.load_ts = s.changed_at
WHEN NOT MATCHED THEN INSERT (customer_hk, load_ts, name, segment) VALUES (s.customer_hk, s.changed_at, s.name, s.segment);

-- 44 staged sources put together, the newest row of each key
MERGE INTO crm.master_contact t
USING (
  SELECT contact_key, max(struct(updated_at, email, phone, system)) AS best
  FROM (
    SELECT lower(email) AS contact_key, email, phone, updated_at, 'sfdc' AS system FROM stg.sfdc WHERE email IS NOT NULL
    UNION ALL SELECT lower(mail), mail, NULL, modified, 'hubspot' FROM stg.hubspot WHERE mail IS NOT NULL
    UNION ALL SELECT lower(e_mail), e_mail, tel, ts, 'shop' FROM stg.shop WHERE e_mail IS NOT NULL
  ) GROUP BY contact_key
) s
ON t.contact_key = s.contact_key
WHEN MATCHED AND s.best.updated_at > t.updated_at THEN UPDATE SET email = s.best.email, phone = coalesce(s.best.phone, t.phone), system = s.best.system, updated_at = s.best.updated_at
WHEN NOT MATCHED THEN INSERT (contact_key, email, phone, system, updated_at) VALUES (s.contact_key, s.best.email, s.best.phone, s.best.system, s.best.updated_at);

-- 45 features of an entity at a time, computed again for the days of the backfill
MERGE INTO ml.features f
USING (
  SELECT user_id AS entity_id, date_trunc('DAY', ts) AS feature_ts, count(*) AS clicks_7d, sum(spend) AS spend_30d, to_date(ts) AS ds
  FROM web.actions WHERE ts >= '2024-06-01' AND ts < '2024-06-08' GROUP BY user_id, date_trunc('DAY', ts), to_date(ts)
) n
ON f.ds = n.ds AND f.ds BETWEEN DATE'2024-06-01' AND DATE'2024-06-07' AND f.entity_id = n.entity_id AND f.feature_ts = n.feature_ts
WHEN MATCHED THEN UPDATE SET f.clicks_7d = n.clicks_7d, f.spend_30d = n.spend_30d
WHEN NOT MATCHED THEN INSERT (entity_id, feature_ts, clicks_7d, spend_30d, tags, ds) VALUES (n.entity_id, n.feature_ts, n.clicks_7d, n.spend_30d, map('run', 'backfill'), n.ds);

-- 46 persons to be forgotten: their values are overwritten, their rows stay for the sums
MERGE INTO cdc.customers c
USING (SELECT DISTINCT subject_id FROM privacy.erasures WHERE approved AND executed_at IS NULL) e
ON c.customer_id = e.subject_id
WHEN MATCHED AND (c.email IS NOT NULL OR c.is_deleted = false) THEN UPDATE SET email = NULL, tier = 'erased', is_deleted = true;

-- 47 the same where the rows go, by pairs of a key
MERGE INTO ops.device_state AS t
USING privacy.device_erasures AS r ON t.tenant = r.tenant AND t.device = r.device AND r.tenant IN ('eu-1', 'eu-2') AND t.tenant IN ('eu-1', 'eu-2')
WHEN MATCHED THEN DELETE;

-- 48 counters that a micro-batch adds to, once by its number
MERGE INTO agg.page_counts t
USING (SELECT page, count(*) AS n, max(batch_no) AS batch_no FROM stream.page_batch GROUP BY page) s
ON t.page = s.page
WHEN MATCHED AND t.last_batch < s.batch_no THEN UPDATE SET n = t.n + s.n, last_batch = s.batch_no
WHEN NOT MATCHED THEN INSERT (page, n, last_batch) VALUES (s.page, s.n, s.batch_no);

-- 49 an inventory with what is not counted any more set to zero, of one warehouse
MERGE INTO inv.stock t
USING (SELECT sku, site, sum(pieces) AS pieces FROM scan.counts WHERE site = 'HAM' GROUP BY sku, site) s
ON t.site = 'HAM' AND t.site = s.site AND t.sku = s.sku
WHEN MATCHED AND t.pieces <> s.pieces THEN UPDATE SET pieces = s.pieces, counted_at = current_timestamp()
WHEN NOT MATCHED THEN INSERT (sku, site, pieces, counted_at) VALUES (s.sku, s.site, s.pieces, current_timestamp())
WHEN NOT MATCHED BY SOURCE AND t.site = 'HAM' AND t.pieces <> 0 THEN UPDATE SET pieces = 0, counted_at = current_timestamp();

-- 50 currencies with a rate that is valid from a day: the period before is closed by lead()
MERGE INTO ref.fx_rate t
USING (SELECT ccy, valid_from, lead(valid_from) OVER (PARTITION BY ccy ORDER BY valid_from) AS valid_to, rate FROM (SELECT ccy, valid_from, avg(rate) AS rate FROM ecb.rates GROUP BY ccy, valid_from)) s
ON t.ccy = s.ccy AND t.valid_from = s.valid_from
WHEN MATCHED AND (NOT t.valid_to <=> s.valid_to OR t.rate <> s.rate) THEN UPDATE SET valid_to = s.valid_to, rate = s.rate
WHEN NOT MATCHED THEN INSERT (ccy, valid_from, valid_to, rate) VALUES (s.ccy, s.valid_from, s.valid_to, s.rate);
