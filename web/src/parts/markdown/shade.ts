// The colours of code, loaded when the first code is there: the highlighter, and
// each language by itself.
import type { CSSProperties } from "react";
import { createHighlighterCore, type HighlighterCore, type LanguageInput } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

/** Lines of pieces, each with its colours as variables of CSS. */
export type Shaded = readonly (readonly { readonly text: string; readonly style: CSSProperties }[])[];

const languages: Record<string, () => LanguageInput> = {
  typescript: () => import("shiki/langs/typescript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  shellscript: () => import("shiki/langs/shellscript.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
};

const otherNames: Record<string, string> = {
  ts: "typescript", js: "typescript", javascript: "typescript", tsx: "typescript", jsx: "typescript", mjs: "typescript", py: "python", golang: "go",
  sh: "shellscript", bash: "shellscript", shell: "shellscript", zsh: "shellscript", console: "shellscript", yml: "yaml", jsonc: "json", patch: "diff",
};

const known = new Set(Object.keys(languages));
let highlighter: Promise<HighlighterCore> | undefined;
const loading = new Map<string, Promise<void>>();

/** The code in colours; undefined for a language that is not known here. */
export async function shade(code: string, language: string): Promise<Shaded | undefined> {
  const lower = language.toLowerCase();
  const name = known.has(lower) ? lower : Object.hasOwn(otherNames, lower) ? otherNames[lower] : undefined;
  const load = name === undefined ? undefined : languages[name];
  if (name === undefined || load === undefined) return undefined;
  highlighter ??= createHighlighterCore({
    themes: [import("shiki/themes/github-light-high-contrast.mjs"), import("shiki/themes/github-dark-high-contrast.mjs")],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const core = await highlighter;
  const loaded = loading.get(name) ?? core.loadLanguage(load());
  loading.set(name, loaded);
  await loaded;
  const { tokens } = core.codeToTokens(code, {
    lang: name,
    themes: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    defaultColor: false,
    tokenizeMaxLineLength: 1000,
    tokenizeTimeLimit: 2000, // The rest of a line that takes longer is in one colour.
  });
  return tokens.map((line) => line.map((t) => ({ text: t.content, style: t.htmlStyle as CSSProperties })));
}
