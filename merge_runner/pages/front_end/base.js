"use strict";
// What all views share: elements, data, the address, the theme, and how values are written.

const data = JSON.parse(document.getElementById("data").textContent);

/** Make an element. Texts become text nodes: nothing of a project is ever parsed as HTML. */
function h(tag, props, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, each] of Object.entries(value)) made.style.setProperty(key, each);
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  append(made, children);
  return made;
}

function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.append(child);
  }
}

function replace(parent, ...children) {
  parent.textContent = "";
  append(parent, children);
  return parent;
}

// ---- details, read when they are needed: gzipped JSON, the last few kept

const KEPT_CHUNKS = 12;
const chunks = new Map();

function chunk(number) {
  let found = chunks.get(number);
  if (found) chunks.delete(number);
  else found = unpacked(document.getElementById(`chunk-${number}`).textContent);
  chunks.set(number, found);
  if (chunks.size > KEPT_CHUNKS) chunks.delete(chunks.keys().next().value);
  return found;
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// ---- the address: #/view/name?key=value

function address(view, name, query) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query || {})) if (value) words.set(key, value);
  const tail = words.toString();
  return `#/${view}${name === undefined ? "" : `/${encodeURIComponent(name)}`}${tail ? `?${tail}` : ""}`;
}

function currentAddress() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...name] = path.split("/");
  let decoded = name.join("/");
  try { decoded = decodeURIComponent(decoded); } catch { /* a hand-written address: taken as it is */ }
  return { view: view || "", name: decoded, query: new URLSearchParams(query || "") };
}

// ---- theme: the system's, until it is switched

function stored(key, value) {
  try {  // a page from disk may have no storage
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch { /* it is asked for again the next time */ }
  return null;
}

function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function themeButton() {
  const button = h("button", { class: "icon-button", type: "button", onclick: () => set(isDark() ? "light" : "dark") });
  function set(theme) {
    document.documentElement.dataset.theme = theme;
    stored("merge-runner-theme", theme);
    label();
    dispatchEvent(new Event("themechange"));
  }
  function label() {
    const other = isDark() ? "light" : "dark";
    button.textContent = isDark() ? "☀" : "☾";
    button.setAttribute("aria-label", `Use the ${other} theme`);
    button.title = `Use the ${other} theme`;
  }
  const before = stored("merge-runner-theme");
  if (before === "dark" || before === "light") document.documentElement.dataset.theme = before;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { label(); dispatchEvent(new Event("themechange")); });
  label();
  return button;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// ---- how values are written

const isKnown = (value) => value !== null && value !== undefined;
const count = (value) => (value === null || value === undefined ? "–" : Number(value).toLocaleString("en-US"));
const counted = (value, one, many) => `${count(value)} ${value === 1 ? one : many || `${one}s`}`;

const unbroken = (text) => text.replaceAll(" ", "\u00a0");

function duration(seconds) {
  return seconds === null || seconds === undefined ? "–" : unbroken(durationText(seconds));
}

function durationText(seconds) {
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min${Math.round(seconds % 60) ? ` ${Math.round(seconds % 60)} s` : ""}` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function bytes(value) {
  if (value === null || value === undefined) return "–";
  let left = Number(value), unit = 0;
  const units = ["B", "kB", "MB", "GB", "TB"];
  while (left >= 1000 && unit < units.length - 1) { left /= 1000; unit += 1; }
  return unbroken(`${left < 10 && unit ? left.toFixed(1) : Math.round(left)} ${units[unit]}`);
}

const when = (text) => {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? String(text) : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
};

const day = (text) => {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? String(text) : date.toLocaleString("en-GB", { day: "numeric", month: "short" });
};

// ---- marks: never by colour alone

const VERDICTS = {
  static: ["●", "static", "the text alone makes the engine skip files"],
  runtime: ["◆", "runtime", "a runtime filter bounds the scan"],
  none: ["▲", "none", "the whole target is scanned"],
  unknown: ["?", "unknown", "it depends on what lint does not know"],
};
const STATUSES = {
  success: "✓", pass: "✓", "no-op": "=", warn: "!", skipped: "–", fail: "✗", error: "✗", "partial success": "◐",
};
const FAILED = ["error", "fail", "partial success"];
/** A status as part of the name of a class. */
const dashed = (status) => status.replace(" ", "-");

function verdictMark(verdict, full) {
  if (!verdict) return null;
  const [mark, word, title] = VERDICTS[verdict] || ["?", verdict, ""];
  const meant = verdict === "none" && full;
  return h("span", { class: `mark verdict-${verdict}${meant ? " meant" : ""}`, title },
    h("span", { "aria-hidden": "true" }, mark), ` ${word}${meant ? " (scan: full)" : ""}`);
}

function statusMark(status) {
  if (!status) return null;
  return h("span", { class: `mark status-${dashed(status)}` }, h("span", { "aria-hidden": "true" }, STATUSES[status] || "·"), ` ${status}`);
}

function emptyState(title, text) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), text && h("p", {}, text));
}

function missing(main, title, name) {
  replace(main, h("h1", { tabindex: "-1" }, title), h("p", { class: "muted" }, name));
}

/** Tabs whose choice is in the address. `tabs` are [key, label, draw]. */
function tabs(label, list, chosen, go) {
  const key = list.some(([each]) => each === chosen) ? chosen : list[0][0];
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": label });
  const panel = h("div", { class: "tab-panel", role: "tabpanel", id: "tab-panel", tabindex: "0", "aria-label": list.find(([each]) => each === key)[1] });
  list.forEach(([each, text], number) => bar.append(h("button", {
    role: "tab", type: "button", "aria-selected": String(each === key), "aria-controls": "tab-panel",
    tabindex: each === key ? "0" : "-1", onclick: () => go(each, true),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { event.preventDefault(); go(list[(number + step + list.length) % list.length][0], true); }
    },
  }, text)));
  list.find(([each]) => each === key)[2](panel);
  return [bar, panel];
}
