// Search over names, columns, descriptions, tests and macros: one pass over all entries, best first.

const SHOWN_HITS = 60;
const KIND_ORDER = { model: 0, source: 1, seed: 1, exposure: 2, analysis: 2, macro: 2, column: 3, test: 4, unit_test: 4 };

let searchEntries = null;

function entriesToSearch() {
  if (searchEntries) return searchEntries;
  searchEntries = [];
  // `at` becomes an address where an entry is shown: to make one takes longer than all else here.
  data.nodes.forEach((node) => {
    searchEntries.push({ kind: node.kind, name: node.name, more: `${node.path} ${(node.tags || []).join(" ")} ${node.about || ""}`.toLowerCase(), low: node.name.toLowerCase(), detail: node.about || node.path, at: ["node", node.id] });
    const more = node.name.toLowerCase(), detail = `in ${node.name}`;
    for (const column of node.columns || []) searchEntries.push({ kind: "column", name: column, low: column.toLowerCase(), more, detail, at: ["node", node.id, { tab: "lineage", column }] });
  });
  for (const macro of data.macros) searchEntries.push({ kind: "macro", name: macro.name, low: macro.name.toLowerCase(), more: `${macro.path} ${macro.about || ""}`.toLowerCase(), detail: macro.about || macro.path, at: ["macro", macro.name] });
  return searchEntries;
}

/** The entries that have every word of the text, best first, and how many there are. */
function searched(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = [];
  for (const entry of entriesToSearch()) {
    let score = KIND_ORDER[entry.kind] * 3;
    let all = true;
    for (const word of words) {
      const at = entry.low.indexOf(word);
      if (at === 0) score += entry.low.length === word.length ? 0 : 2;
      else if (at > 0) score += /[\w]/.test(entry.low[at - 1]) && entry.low[at - 1] !== "_" ? 8 : 5;
      else if (entry.more.includes(word)) score += 14;
      else { all = false; break; }
    }
    if (all) found.push([score + entry.low.length / 100, entry]);
  }
  return found.sort((a, b) => a[0] - b[0]).map(([, entry]) => entry);
}

function searchBox() {
  const list = h("div", { class: "hits", role: "listbox", id: "hits", "aria-label": "Search results", hidden: true });
  const said = h("div", { class: "off-screen", role: "status" });
  const input = h("input", {
    type: "search", placeholder: "Search models, columns, sources, macros, tests", "aria-label": "Search", autocomplete: "off", spellcheck: "false",
    role: "combobox", "aria-expanded": "false", "aria-controls": "hits", "aria-autocomplete": "list",
  });
  let hits = [], active = 0;
  function draw() {
    const open = input.value.trim() !== "" && document.activeElement === input;
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    replace(list, hits.slice(0, SHOWN_HITS).map((hit, number) => h("a", {
      class: number === active ? "hit active" : "hit", role: "option", id: `hit-${number}`, href: address(...hit.at), tabindex: "-1", "aria-selected": String(number === active),
      onmousedown: (event) => event.preventDefault(), onclick: close,
    }, h("span", { class: `kind kind-${hit.kind}` }, hit.kind.replace("_", " ")), h("span", { class: "hit-name" }, hit.name), h("span", { class: "hit-detail" }, hit.detail))),
    !hits.length && h("div", { class: "hit none", role: "option", "aria-selected": "false" }, "Nothing has all of these words"));
    if (open && hits.length) input.setAttribute("aria-activedescendant", `hit-${active}`); else input.removeAttribute("aria-activedescendant");
    if (hits.length > SHOWN_HITS) list.append(h("div", { class: "hit none", role: "option", "aria-selected": "false" }, `and ${count(hits.length - SHOWN_HITS)} more: another word narrows it`));
    said.textContent = open ? counted(hits.length, "result") : "";
    const shown = document.getElementById(`hit-${active}`);
    if (shown) shown.scrollIntoView({ block: "nearest" });
  }
  function close() { input.value = ""; hits = []; input.blur(); draw(); }
  input.addEventListener("input", () => { hits = searched(input.value); active = 0; draw(); });
  input.addEventListener("focus", draw);
  input.addEventListener("blur", draw);
  input.addEventListener("keydown", (event) => {
    const last = Math.min(hits.length, SHOWN_HITS) - 1;
    if (event.key === "ArrowDown") active = Math.min(active + 1, last);
    else if (event.key === "ArrowUp") active = Math.max(active - 1, 0);
    else if (event.key === "Enter" && hits[active]) { location.hash = address(...hits[active].at); close(); document.getElementById("main").focus(); return; }
    else if (event.key === "Escape") { close(); return; }
    else return;
    event.preventDefault();
    draw();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/^(input|textarea|select)$/i.test(event.target.tagName)) { event.preventDefault(); input.focus(); }
  });
  return h("div", { class: "search", role: "search" }, input, h("kbd", { "aria-hidden": "true" }, "/"), list, said);
}
