// Short labels and numbers. A state is always a word with an icon, never a colour alone
// (WCAG 2.2, 1.4.1).
import type { ReactNode } from "react";
import { classes } from "./classes";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "bad" | "info";

const tones: Record<Tone, string> = {
  neutral: "bg-sunken text-soft",
  accent: "bg-accent-soft text-accent",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
};

export function Badge({ tone = "neutral", icon, title, children }: { tone?: Tone; icon?: ReactNode; title?: string; children: ReactNode }) {
  return (
    <span title={title} className={classes("inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap", tones[tone])}>
      {icon}
      {children}
    </span>
  );
}
