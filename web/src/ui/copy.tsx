// A text with a copy button.
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "./button";

/** Copies `text`, and confirms it for two seconds. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <Button small tone="plain" onClick={() => void copy()} icon={copied ? <Check aria-hidden className="size-3.5" /> : <Copy aria-hidden className="size-3.5" />}>
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </Button>
  );
}
