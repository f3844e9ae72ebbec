// Text of agents and people as markdown.
//
// Guarantees: raw HTML is never drawn; links lead to http, https and mailto only, in
// a tab of their own; no picture of another server loads by itself; characters that
// cannot be seen are marked. While text comes, only the block that grows is parsed.
import { memo, useRef, useState } from "react";
import { Button } from "@/ui/button";
import { MarkdownBlock } from "./block";
import { Splitter } from "./blocks";
import { CodeBlock } from "./code";
import "./markdown.css";

interface Props {
  readonly text: string;
  /** More of it comes: what has begun and not ended yet is drawn as if it had. */
  readonly streaming?: boolean;
}

// A text of very many blocks is drawn in pages, or it would hold the page up.
const firstBlocks = 300;
const firstWhileStreaming = 3000;
const moreBlocks = 500;

/** Markdown; `streaming` while more of it comes. */
export const Markdown = memo(function Markdown({ text, streaming = false }: Props) {
  const splitter = useRef<Splitter>(null);
  splitter.current ??= new Splitter();
  const blocks = splitter.current.split(text);
  const [most, setMost] = useState(streaming ? firstWhileStreaming : firstBlocks);
  return (
    <div className="markdown" dir="auto">
      {blocks.slice(0, most).map((block, i) => {
        const grows = streaming && i === blocks.length - 1;
        return block.code === undefined ? <MarkdownBlock key={i} text={block.text} grows={grows} /> : <CodeBlock key={i} code={block.code.text} language={block.code.language} grows={grows} />;
      })}
      {blocks.length > most && (
        <Button small onClick={() => setMost(most + moreBlocks)}>
          Show more
        </Button>
      )}
    </div>
  );
});
