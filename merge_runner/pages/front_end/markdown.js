// Descriptions: the part of Markdown that people write in YAML, as elements; nothing of it is ever parsed as HTML.

/** A link to a page of HTTP; any other address is no link, whatever its scheme would run. */
function outside(url, text) {
  return /^https?:\/\//i.test(url || "") ? h("a", { href: url, rel: "noreferrer" }, text || url) : text || url;
}

// No alternative reads over the start of another, so the time is linear in the text, whatever somebody has written.
const INLINE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|\[([^[\]\n]+)\]\(([^()\s]+)\)/g;

/** Code, bold and italic words, and links, in a text of one line or more. */
function inlineMarkdown(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, label, url] = match;
    parts.push(text.slice(end, match.index), code ? h("code", {}, code) : strong ? h("strong", {}, strong) : emphasis ? h("em", {}, emphasis) : outside(url, label));
    end = match.index + whole.length;
  }
  return [...parts, text.slice(end)];
}

/** Paragraphs, lists and fenced code. A line that begins as an item of a list is one, also right after a paragraph. */
function markdown(text) {
  const blocks = [];
  let last = null;
  const lineOf = (kind, line) => {
    if (last && last.kind === kind) last.lines.push(line);
    else blocks.push((last = { kind, lines: [line] }));
  };
  for (const line of text.trim().split("\n")) {
    const item = /^\s*[-*] +(.*)/.exec(line);
    if (last && last.kind === "fence") { if (/^\s*```/.test(line)) last = null; else last.lines.push(line); }
    else if (/^\s*```/.test(line)) blocks.push((last = { kind: "fence", lines: [] }));
    else if (!line.trim()) last = null;
    else if (item) lineOf("list", item[1]);
    else if (last && last.kind === "list" && /^\s/.test(line)) last.lines.push(`${last.lines.pop()} ${line.trim()}`);
    else lineOf("text", line);
  }
  return blocks.map(({ kind, lines }) =>
    kind === "fence" ? h("pre", {}, h("code", {}, lines.join("\n")))
      : kind === "list" ? h("ul", {}, lines.map((line) => h("li", {}, inlineMarkdown(line))))
        : h("p", {}, inlineMarkdown(lines.join("\n"))));
}
