// Tables that sort by a click, and lists of which only the visible rows are elements.

/** `columns` are {label, value(row), cell(row), number}; sorts in place. */
function sortedTable(caption, columns, rows, start) {
  const state = { by: start ? start.by : -1, down: start ? start.down : false };
  const body = h("tbody");
  const heads = columns.map((column, number) => {
    const button = h("button", { type: "button", onclick: () => { state.down = state.by === number ? !state.down : Boolean(column.number); state.by = number; draw(); } }, column.label);
    return h("th", { scope: "col", class: column.number ? "number" : null }, column.value ? button : column.label);
  });
  function draw() {
    const column = columns[state.by];
    const ordered = column ? [...rows].sort((a, b) => compared(column.value(a), column.value(b)) * (state.down ? -1 : 1)) : rows;
    heads.forEach((head, number) => {
      if (number === state.by) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    replace(body, ordered.map((row) => h("tr", { class: row.className }, columns.map((each, number) =>
      h(number ? "td" : "th", { scope: number ? null : "row", class: each.number ? "number" : null }, each.cell(row))))));
  }
  draw();
  return h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: "off-screen" }, caption), h("thead", {}, h("tr", {}, heads)), body));
}

function compared(a, b) {
  const none = (value) => value === null || value === undefined;
  if (none(a) || none(b)) return none(a) - none(b);
  return typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

const ROW = 30;

/** A tree of which only the rows in sight are elements. `rows` are {key, text, level, href | open, mark}. */
function virtualTree(label, toggle) {
  const inner = h("div", { class: "tree-inner", role: "presentation" });
  const outer = h("div", { class: "tree", role: "tree", "aria-label": label, tabindex: "0" }, inner);
  let rows = [], active = 0, current = null;
  function draw() {
    const first = Math.max(0, Math.floor(outer.scrollTop / ROW) - 8);
    const last = Math.min(rows.length, Math.ceil((outer.scrollTop + outer.clientHeight) / ROW) + 8);
    inner.style.height = `${rows.length * ROW}px`;
    replace(inner, rows.slice(first, last).map((row, offset) => element(row, first + offset)));
    outer.toggleAttribute("aria-activedescendant", false);
    if (active >= first && active < last) outer.setAttribute("aria-activedescendant", `tree-${active}`);
  }
  function element(row, number) {
    const made = h(row.href ? "a" : "div", {
      class: `tree-row${row.key === current ? " current" : ""}${number === active ? " active" : ""}`, role: "treeitem", id: `tree-${number}`,
      tabindex: "-1", href: row.href, "aria-level": row.level, "aria-setsize": row.of, "aria-posinset": row.at,
      "aria-expanded": row.href ? null : String(row.open), "aria-current": row.key === current ? "page" : null, "aria-selected": String(row.key === current),
      title: row.text, style: { top: `${number * ROW}px`, "padding-left": `${row.level * 14}px` },
      onclick: () => { active = number; if (!row.href) toggle(row.key); },
    }, row.href ? null : h("span", { class: "twisty", "aria-hidden": "true" }, row.open ? "▾" : "▸"),
      h("span", { class: "tree-text" }, row.text), row.mark);
    return made;
  }
  function show(number) {
    active = Math.max(0, Math.min(rows.length - 1, number));
    const top = active * ROW;
    if (top < outer.scrollTop) outer.scrollTop = top;
    else if (top + ROW > outer.scrollTop + outer.clientHeight) outer.scrollTop = top + ROW - outer.clientHeight;
    draw();
  }
  outer.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(outer);
  outer.addEventListener("keydown", (event) => {
    const row = rows[active];
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: rows.length - 1, PageDown: active + 15, PageUp: active - 15 };
    if (event.key in moves) show(moves[event.key]);
    else if (row && (event.key === "Enter" || event.key === " ")) { if (row.href) location.hash = row.href; else toggle(row.key); }
    else if (row && !row.href && ((event.key === "ArrowRight" && !row.open) || (event.key === "ArrowLeft" && row.open))) toggle(row.key);
    else if (row && event.key === "ArrowLeft") { let up = active; while (up > 0 && rows[up].level >= row.level) up -= 1; show(up); }
    else return;
    event.preventDefault();
  });
  return {
    element: outer,
    set(given) { rows = given; active = Math.min(active, Math.max(0, rows.length - 1)); draw(); },
    mark(key) { current = key; const at = rows.findIndex((row) => row.key === key); if (at >= 0) show(at); else draw(); },
  };
}
