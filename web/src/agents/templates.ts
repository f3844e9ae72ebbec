// What a new agent begins with: one answering agent for each provider.
import type { JsonObject } from "./config/json";

/** A template by its provider. */
export interface Template {
  readonly provider: string;
  readonly name: string;
  /** A model of that provider that is a good first one. */
  readonly model: string;
}

export const templates: readonly Template[] = [
  { provider: "openai", name: "OpenAI, or a compatible API", model: "gpt-4o-mini" },
  { provider: "anthropic", name: "Anthropic", model: "claude-sonnet-4-5" },
  { provider: "google", name: "Google", model: "gemini-2.5-flash" },
  { provider: "ollama", name: "Ollama, on your own machine", model: "llama3.2" },
  { provider: "script", name: "A script, without any key", model: "hello" },
];

const keys: Readonly<Record<string, string>> = {
  openai: "The server reads its key from OPENAI_API_KEY. A server of your own that speaks the protocol needs a base URL (on the Model page), and perhaps no key.",
  anthropic: "The server reads its key from ANTHROPIC_API_KEY.",
  google: "The server reads its key from GEMINI_API_KEY or GOOGLE_API_KEY.",
  ollama: "No key is needed; the models are on the machine that Ollama runs on.",
  script: "No key is needed: a script is played, and it says that it is one. It is good for trying what an agent can do, and for tests.",
};

/** What a provider needs so that it answers. */
export function keyHint(provider: string): string {
  return keys[provider] ?? "Choose who makes the model.";
}

/** The config of an answering agent; a script speaks in `space`. */
export function answering(template: Template, id: string, name: string, model: string, space: string): JsonObject {
  return {
    version: "1.0",
    agent: { id, name, system: "You help the people of this space. Answer what you are asked in short and plain sentences. If you do not know, say so." },
    model: { provider: template.provider, name: model, ...(template.provider === "script" ? { providerOptions: { script: hello(space) } } : {}) },
  };
}

function hello(space: string): string {
  const text = "I am a script, not a model: I say the same every time. Change what I say on the tab Model.";
  return `pause 15ms\ncall sendSpaceMessage ${JSON.stringify({ spaceId: space, text })}\n---\nsay There is nothing more to do.\n`;
}

/** The id that a name suggests: its letters and digits in lower case with hyphens between. */
export function idOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
}
