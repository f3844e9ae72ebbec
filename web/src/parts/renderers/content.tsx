// The result of an MCP tool: text, images and resources, one below the other.
import { Markdown } from "../markdown/markdown";
import { FileRow, ImageValue } from "./file";
import { JsonTree } from "./json";
import { type Fields, isFields, member, textMember } from "./shape";

const most = 50;

function itemsOf(value: unknown): readonly unknown[] {
  const items = Array.isArray(value) ? value : member(value, "content");
  return Array.isArray(items) ? items : [];
}

/**
 * The structured content of an MCP tool result. Returns undefined if there is none, or if
 * the result has content other than text: text repeats the structured content as JSON.
 */
export function structuredContent(value: unknown): Fields | undefined {
  const structured = member(value, "structuredContent");
  return isFields(structured) && itemsOf(value).every((c) => member(c, "type") === "text") ? structured : undefined;
}

/** The content items of an MCP tool result, one below the other. */
export function Content({ value }: { value: unknown }) {
  const list = itemsOf(value);
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
