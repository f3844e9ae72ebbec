// Any value of JSON in the look that suits it.
import { CodeBlock } from "../markdown/code";
import { Markdown } from "../markdown/markdown";
import { Content, structuredContent } from "./content";
import { FileRow, ImageValue } from "./file";
import { JsonTree } from "./json";
import { KeyValues } from "./kv";
import { Chart, DataTable, Diff } from "./lazy";
import { Scalar } from "./scalar";
import { type Fields, isRows, type Look, lookOf, member, rowsOf, textMember } from "./shape";

/** Renders a value as its author requests, else as its shape suggests, else as a tree; `titled` if its title is shown already. */
export function Value({ value, hint, titled = false }: { value: unknown; hint?: Look; titled?: boolean }) {
  switch (lookOf(value, hint)) {
    case "nothing":
      return null;
    case "text":
      return typeof value === "string" ? <Markdown text={value} /> : <Scalar value={value} />;
    case "content": {
      const structured = structuredContent(value);
      return structured === undefined ? <Content value={value} /> : <Value value={structured} />;
    }
    case "kv":
      return <KeyValues value={value as Fields} titled={titled} />;
    case "table": {
      const rows = isRows(value) ? value : rowsOf(value);
      return isRows(rows) ? <DataTable rows={rows} name={textMember(value, "title", "name") ?? "Table"} /> : <JsonTree value={value} />;
    }
    case "chart":
      return <Chart value={value} />;
    case "image":
      return <ImageValue value={value} />;
    case "markdown":
      return <Markdown text={typeof value === "string" ? value : (textMember(value, "markdown", "text") ?? "")} />;
    case "code":
      return <CodeBlock code={typeof value === "string" ? value : (textMember(value, "code", "text") ?? "")} language={textMember(value, "language", "lang") ?? ""} />;
    case "diff":
      return <Diff value={value} />;
    case "file": {
      const size = member(value, "size");
      return <FileRow name={textMember(value, "name") ?? "file"} mediaType={textMember(value, "mediaType", "mimeType", "type") ?? ""} url={textMember(value, "url") ?? ""} size={typeof size === "number" ? size : undefined} />;
    }
    case "json":
      return <JsonTree value={value} />;
  }
}
