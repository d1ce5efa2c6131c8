// SQL as text nodes in spans: keywords, strings, comments, numbers, and the tags of Jinja.

const KEYWORDS = new Set(("all alter and anti any array as asc between by case cast clustered create cross cube current database "
  + "delete desc describe distinct drop else end escape except exists false filter first following for from full function group "
  + "grouping having if ilike in inner insert intersect interval into is join last lateral left like limit map matched merge "
  + "minus natural not null nulls on or order outer over partition partitioned preceding qualify range regexp replace right "
  + "rlike rollup row rows select semi set sets source sort star struct table tablesample target temporary then true truncate "
  + "unbounded union unpivot update using values view when where window with schema evolution date timestamp").split(" "));
const TOKEN = /(\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|\{#[\s\S]*?#\})|(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*")|(\b\d+(?:\.\d+)?\b)|(\b[A-Za-z_]\w*\b)/g;
const COLOURED = 60000;  // longer texts are shown without colours: each token is an element

function highlighted(text) {
  if (text.length > COLOURED) return [text];
  const parts = [];
  let done = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = match[1] ? "jinja" : match[2] ? "comment" : match[3] ? "string" : match[4] ? "number"
      : KEYWORDS.has(match[5].toLowerCase()) ? "keyword" : null;
    if (!kind) continue;
    if (match.index > done) parts.push(text.slice(done, match.index));
    parts.push(h("span", { class: `sql-${kind}` }, match[0]));
    done = match.index + match[0].length;
  }
  parts.push(text.slice(done));
  return parts;
}

/** A block of code with a button that copies it. `pieces` are [origin, text], or one text. */
function codeBlock(pieces, label) {
  const list = typeof pieces === "string" ? [["author", pieces]] : pieces;
  const whole = list.map(([, text]) => text).join("");
  const lead = whole.length - whole.replace(/^\s*\n/, "").length;
  let skip = lead;
  const body = h("code", {});
  for (const [origin, text] of list) {
    const shown = text.slice(Math.min(skip, text.length));
    skip -= Math.min(skip, text.length);
    if (!shown) continue;
    if (origin === "author") append(body, highlighted(shown));
    else body.append(h(origin === "runner" ? "mark" : "span", { class: `from-${origin}`, title: ORIGINS[origin] }, highlighted(shown)));
  }
  const copy = h("button", { class: "copy", type: "button", onclick: () => copyText(whole.trim() + "\n", copy) }, "Copy");
  return h("div", { class: "code" }, copy, h("pre", { tabindex: "0", role: "region", "aria-label": label }, body));
}

const ORIGINS = {
  jinja: "produced by Jinja: a tag or a macro",
  runner: "put in by merge-runner when it ran",
  cut: "the page keeps the beginning of long texts",
};

function copyText(text, button) {
  const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
  if (navigator.clipboard && window.isSecureContext) { navigator.clipboard.writeText(text).then(done, () => {}); return; }
  const area = h("textarea", { class: "off-screen", "aria-hidden": "true", tabindex: "-1" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  button.focus();
  done();
}
