// What a tool of MCP answers: texts, pictures, resources, one after the other.
import { Markdown } from "../markdown/markdown";
import { FileRow, ImageValue } from "./file";
import { JsonTree } from "./json";
import { isFields, member, textMember } from "./shape";
import { Value } from "./value";

const most = 50;

/** The content of a result; `structuredContent` where there is nothing else. */
export function Content({ value }: { value: unknown }) {
  const given = Array.isArray(value) ? value : member(value, "content");
  const list: unknown[] = Array.isArray(given) ? given : [];
  const structured = member(value, "structuredContent");
  // The texts of a structured result say the same in JSON.
  if (isFields(structured) && list.every((c) => member(c, "type") === "text")) return <Value value={structured} />;
  return (
    <div className="flex flex-col gap-2">
      {list.slice(0, most).map((item, i) => (
        <Item key={i} item={item} />
      ))}
      {list.length > most && <p className="text-sm text-soft">{list.length - most} more are not shown.</p>}
    </div>
  );
}

function Item({ item }: { item: unknown }) {
  const inner = member(item, "resource");
  switch (member(item, "type")) {
    case "text":
      return <Markdown text={textMember(item, "text") ?? ""} />;
    case "image":
      return <ImageValue value={item} />;
    case "resource_link":
      return <FileRow name={textMember(item, "title", "name") ?? "file"} mediaType={textMember(item, "mimeType") ?? ""} url={textMember(item, "uri") ?? ""} />;
    case "resource":
      return textMember(inner, "text") === undefined ? <FileRow name={textMember(inner, "name", "uri") ?? "file"} mediaType={textMember(inner, "mimeType") ?? ""} url={textMember(inner, "uri") ?? ""} /> : <Markdown text={textMember(inner, "text") ?? ""} />;
    default:
      return <JsonTree value={item} />;
  }
}
