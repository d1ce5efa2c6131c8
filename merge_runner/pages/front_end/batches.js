// The batches of a model: a calendar of windows of time, and a table. All times are UTC.

/** How a batch ended and why it ran: its mark, its word, and what that means. */
const BATCHES = {
  done: ["✓", "done", "the first time that this window is committed, or the window is over now"],
  open: ["◔", "open", "done, and the window was not over yet: it is due again"],
  late: ["◆", "late", "done, after later batches were"],
  lookback: ["↻", "lookback", "done again, because lookback asks for it"],
  asked: ["▸", "asked for", "done, because the command asked for it"],
  skipped: ["–", "skipped", "it did not run"],
  failed: ["✗", "failed", ""],
};

function batchKind(batch, now) {
  if (FAILED.includes(batch.status)) return "failed";
  if (batch.status === "skipped") return "skipped";
  if (batchTime(batch.end) > new Date(now).getTime()) return "open";
  return { missing: "late", lookback: "lookback", asked: "asked" }[batch.reason] || "done";
}

const HOUR = 3_600_000;
const batchTime = (text) => new Date(text.length > 10 ? `${text}:00Z` : `${text}T00:00Z`).getTime();
const padded = (number) => String(number).padStart(2, "0");
const numbers = (first, last) => Array.from({ length: last - first + 1 }, (_, at) => first + at);
const month = (number) => new Date(Date.UTC(2000, number)).toLocaleString("en-GB", { month: "short", timeZone: "UTC" });
/** Of each size of batches: the names of a row and of its columns, the row and the column of a time, and the next time. */
const SIZES = {
  hour: ["Day", numbers(0, 23).map(padded), (time) => [time.toISOString().slice(0, 10), time.getUTCHours()], (time) => time.getTime() + HOUR],
  day: ["Month", numbers(1, 31), (time) => [time.toISOString().slice(0, 7), time.getUTCDate() - 1], (time) => time.getTime() + 24 * HOUR],
  month: ["Year", numbers(0, 11).map(month), (time) => [time.toISOString().slice(0, 4), time.getUTCMonth()], (time) => Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1)],
  year: ["Decade", numbers(0, 9), (time) => [`${time.toISOString().slice(0, 3)}0`, time.getUTCFullYear() % 10], (time) => Date.UTC(time.getUTCFullYear() + 1, 0)],
};
const MOST_CELLS = 10_000, MOST_BATCHES = 1_000;

/** The batches as rows of cells; a batch of several windows has a cell for each. */
function batchRows(batches, size) {
  const [, columns, place, next] = SIZES[size], rows = new Map();
  let cells = 0;
  for (const batch of batches) {
    for (let time = batchTime(batch.start); time < batchTime(batch.end) && cells < MOST_CELLS; time = next(new Date(time)), cells += 1) {
      const [row, column] = place(new Date(time));
      if (!rows.has(row)) rows.set(row, columns.map(() => null));
      rows.get(row)[column] = batch;
    }
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** `batches` are entries of `adapter_response.batches`, each with `at`: when its run began. */
function batchCalendar(name, size, batches) {
  const kinds = Object.keys(BATCHES).filter((kind) => batches.some((batch) => batchKind(batch, batch.at) === kind));
  const [rowName, columns] = SIZES[size];
  const cell = (batch) => {
    if (!batch) return h("td", { class: "cell" });
    const kind = batchKind(batch, batch.at), [mark, word] = BATCHES[kind];
    const text = [`${batchWindow(batch)}: ${word}`, isKnown(batch.rows) && counted(batch.rows, "row"), isKnown(batch.version) && `version ${batch.version}`, kind !== "skipped" && duration(batch.seconds), batch.message].filter(Boolean).join(", ");
    return h("td", { class: `cell batch-${kind}`, title: text }, h("span", { "aria-hidden": "true" }, mark), h("span", { class: "off-screen" }, text));
  };
  return [
    h("p", { class: "legend" }, kinds.map((kind) => h("span", { class: "legend-item", title: BATCHES[kind][2] }, h("span", { class: `mark batch-${kind}`, "aria-hidden": "true" }, BATCHES[kind][0]), `${BATCHES[kind][1]}: ${count(batches.filter((batch) => batchKind(batch, batch.at) === kind).length)}`))),
    h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": `Calendar of the batches of ${name}` }, h("table", { class: "matrix calendar" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, rowName), columns.map((each) => h("th", { scope: "col" }, String(each))))),
      h("tbody", {}, batchRows(batches, size).map(([row, cells]) => h("tr", {}, h("th", { scope: "row" }, row), cells.map(cell)))))),
  ];
}

const batchWindow = (batch) => `${batch.start}/${batch.end}`;

function batchTable(name, batches) {
  const shown = batches.slice(0, MOST_BATCHES);
  return [sortedTable(`Batches of ${name}`, [
    { label: "Window (UTC)", value: (batch) => batch.start, cell: (batch) => h("span", { class: "whole" }, batchWindow(batch)) },
    { label: "Status", value: (batch) => batch.status, cell: (batch) => statusMark(batch.status) },
    { label: "Due because", value: (batch) => batch.reason, cell: (batch) => batch.reason },
    { label: "Rows", number: true, value: (batch) => batch.rows, cell: (batch) => count(batch.rows) },
    { label: "Version", value: (batch) => batch.version, cell: (batch) => (isKnown(batch.version) ? h("code", {}, batch.version) : "–") },
    { label: "Time", number: true, value: (batch) => batch.seconds, cell: (batch) => duration(batch.seconds) },
    { label: "Message", cell: (batch) => (batch.message || "").split("\n")[0].slice(0, 160) },
  ], shown), batches.length > shown.length && h("p", { class: "muted" }, `The first ${count(shown.length)} of ${counted(batches.length, "batch", "batches")}.`)];
}

const batchesTogether = (name, size, batches, open) => [
  batchCalendar(name, size, batches),
  h("details", { class: "more", open }, h("summary", {}, `The ${counted(batches.length, "batch", "batches")} as a table`), batchTable(name, batches))];

/** The batches of each model in a run. */
function batchesTab(panel, run, models) {
  for (const node of models) {
    const batches = node.batches.map((batch) => ({ ...batch, at: run.started_at }));
    append(panel, [h("h2", {}, runLink(node), " ", statusMark(node.status)), node.message && h("p", { class: "muted" }, node.message.split("\n")[0]), batchesTogether(node.name, node.batch_size, batches, models.length === 1)]);
  }
}

/** What the kept runs have done in each window of a model, the newest run of each window. */
async function batchesOf(id) {
  const windows = new Map();
  let size = null;
  for (let at = data.runs.length - 1; at >= 0; at -= 1) {  // the oldest first
    if (!(data.history[id] || [])[at]) continue;
    const node = (await chunk(at)).nodes.find((each) => each.id === id);
    size = node.batch_size || size;
    for (const batch of node.batches || []) windows.set(batchWindow(batch), { ...batch, at: data.runs[at].started_at });
  }
  return { size, batches: [...windows.values()].sort((a, b) => compared(a.start, b.start)) };
}
