// HTML in markdown is not drawn: its tags go, the words between them stay. What
// only looks like a tag (`Vec<u8>`) is words.
const names = new Set(
  (
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br button canvas caption center cite code col colgroup " +
    "command content data datalist dd del details dfn dialog dir div dl dt element em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head " +
    "header hgroup hr html i iframe image img input ins isindex kbd keygen label legend li link listing main map mark marquee math menu menuitem meta meter mglyph mi mn mo ms mtext " +
    "multicol nav nextid nobr noembed noframes noscript object ol optgroup option output p param picture plaintext portal pre progress q rb rp rt rtc ruby s samp script search " +
    "section select shadow slot small source spacer span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var " +
    "video wbr xmp animate animatetransform annotation-xml desc foreignobject g path set use"
  ).split(" "),
);
// A name is taken whole or not at all: giving it back letter by letter would take
// seconds for a long one.
const tag = /<!--[\s\S]*?(?:-->|$)|<[?!][^>]*(?:>|$)|<\/?([A-Za-z][\w:-]*)(?![\w:-])(?:"[^"]*"|'[^']*'|[^'"<>])*(?:>|$)/g;

/** HTML without its tags. */
export function withoutTags(html: string): string {
  return html.replace(tag, (all: string, name: string | undefined) => {
    if (name === undefined || /^br$/i.test(name)) return name === undefined ? "" : "\n";
    return names.has(name.toLowerCase()) || name.includes(":") ? "" : all;
  });
}
