// Markdown's tokens as React draws them. Every element that can appear is written
// here by hand, so nothing in a text can bring an element or an attribute of its own.
import type { MarkedToken, Token, Tokens } from "marked";
import { Fragment, type ReactNode } from "react";
import { ownFile } from "../words/address";
import { Link, RemoteImage } from "../words/link";
import { OwnImage } from "../words/own-file";
import { Words } from "../words/words";
import { CodeBlock } from "./code";
import { resolved } from "./entities";
import { withoutTags } from "./html";

// Quotes in quotes in quotes: deeper than this it is drawn as it is written.
const deepest = 100;

/** Draws tokens, in order. */
export function drawn(tokens: readonly Token[], depth = 0): ReactNode {
  if (depth > deepest) return <Words text={tokens.map((t) => t.raw).join("")} />;
  return tokens.map((token, i) => <Fragment key={i}>{one(token as MarkedToken, depth + 1)}</Fragment>);
}

function one(token: MarkedToken, depth: number): ReactNode {
  const inside = () => drawn("tokens" in token && token.tokens !== undefined ? token.tokens : [], depth);
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "paragraph":
      return <p>{inside()}</p>;
    case "heading":
      return wordless(token.tokens ?? []) ? null : <Heading depth={token.depth}>{inside()}</Heading>;
    case "code":
      return <CodeBlock code={token.text} language={token.lang ?? ""} />;
    case "blockquote":
      return <blockquote>{inside()}</blockquote>;
    case "hr":
      return <hr />;
    case "list":
      return list(token, depth);
    case "list_item":
      return <li>{inside()}</li>;
    case "checkbox":
      return <input type="checkbox" className="mr-1.5" checked={token.checked} disabled readOnly aria-label={token.checked ? "done" : "not done"} />;
    case "table":
      return table(token, depth);
    case "strong":
      return <strong>{inside()}</strong>;
    case "em":
      return <em>{inside()}</em>;
    case "del":
      return <del>{inside()}</del>;
    case "codespan":
      return <code>{<Words text={token.text} />}</code>;
    case "br":
      return <br />;
    case "link":
      return link(token, depth);
    case "image":
      return image(token);
    case "html":
      return html(token);
    case "escape":
      return <Words text={token.text} />;
    case "text":
      return token.tokens === undefined ? <Words text={resolved(token.text)} /> : inside();
    default:
      return <Words text={(token as Token).raw} />;
  }
}

const sizes = ["text-xl", "text-lg", "text-base", "text-base", "text-sm", "text-sm"];

// A heading without words yet is not rendered as one: screen readers would announce an empty heading.
const wordless = (tokens: readonly Token[]) => words(tokens).trim() === "" && !tokens.some((t) => t.type === "image");

// Below the headings of the page, whatever the text says.
function Heading({ depth, children }: { depth: number; children: ReactNode }) {
  return <h4 className={`${sizes[depth - 1] ?? "text-sm"} font-semibold`}>{children}</h4>;
}

function list(token: Tokens.List, depth: number): ReactNode {
  const items = token.items.map((item, i) => (
    <li key={i} className={item.task ? "task" : undefined}>
      {drawn(item.tokens, depth)}
    </li>
  ));
  return token.ordered ? <ol start={token.start === "" ? undefined : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table, depth: number): ReactNode {
  const cells = (row: readonly Tokens.TableCell[], Cell: "th" | "td") =>
    row.map((cell, i) => (
      <Cell key={i} align={cell.align ?? undefined}>
        {drawn(cell.tokens, depth)}
      </Cell>
    ));
  return (
    <div className="overflow-x-auto" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{cells(token.header, "th")}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, i) => (
            <tr key={i}>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function link(token: Tokens.Link, depth: number): ReactNode {
  const href = token.autolink === true ? token.href : resolved(token.href);
  return (
    <Link href={href} words={words(token.tokens)}>
      {drawn(token.tokens, depth)}
    </Link>
  );
}

function image(token: Tokens.Image): ReactNode {
  const src = resolved(token.href);
  const alt = resolved(token.text);
  return ownFile(src) ? <OwnImage src={src} alt={alt} /> : <RemoteImage src={src} alt={alt} />;
}

// Tags go, the words between them stay.
function html(token: Tokens.HTML | Tokens.Tag): ReactNode {
  if (/^<br\s*\/?>\s*$/i.test(token.text)) return <br />;
  const text = resolved(withoutTags(token.text));
  if (!token.block) return <Words text={text} />;
  return text.trim() === "" ? null : (
    <p className="whitespace-pre-line">
      <Words text={text.trim()} />
    </p>
  );
}

// What a reader sees of tokens, as one line.
function words(tokens: readonly Token[]): string {
  return tokens
    .map((t) => {
      const inner = (t as Tokens.Generic).tokens;
      if (inner !== undefined) return words(inner);
      return t.type === "html" ? "" : t.type === "text" ? resolved((t as Tokens.Text).text) : "text" in t ? String(t.text) : "";
    })
    .join("");
}
