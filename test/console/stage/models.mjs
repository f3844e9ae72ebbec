// The models of hosted agents, played by aimock on OpenAI's wire: a play is a list
// of answers, and the model's name in an agent's config says which one is played.
import { LLMock } from "@copilotkit/aimock";

let calls = 0;

/** A tool call of an answer. */
export const call = (name, args, id = `call_${++calls}`) => ({ name, id, arguments: JSON.stringify(args) });

/** A text that is sent to a space. */
export const send = (spaceId, text, more = {}) => call("sendSpaceMessage", { spaceId, text, ...more });

/** What every answer of every play is said to have used. */
export const used = { prompt_tokens: 321, completion_tokens: 45 };

const results = ({ messages }) => messages.slice(messages.findLastIndex((m) => m.role === "user") + 1).filter((m) => m.role === "tool");

// The next answer, as soon as all calls of those before have results.
const answerOf = (answers) => (req) => {
  let had = results(req).length;
  for (const made of answers) {
    const n = made.toolCalls?.length ?? 0;
    if (had < n || n === 0) return made;
    had -= n;
  }
  return { content: "That is all." };
};

/** Vendors that play. */
export class Models {
  static async start() {
    const m = new Models();
    m.mock = new LLMock({ port: 0, chunkSize: 7, logLevel: "warn", strict: true, fixtureCountsMaxTestIds: 0 });
    await m.mock.start();
    return m;
  }

  /** Adds a play; `latency` is how many ms lie between two pieces of its answers. */
  play(name, answers, latency = 5) {
    const answer = answerOf(answers);
    this.mock.addFixture({ match: { predicate: (req) => req.model === name }, response: (req) => ({ usage: used, ...answer(req) }), latency });
  }

  /** The config of an agent that plays. */
  agent(name, play, more = {}) {
    return {
      version: "1.0",
      agent: { name, system: `You are ${name}.`, ...more.agent },
      model: { provider: "openai", name: play, baseURL: `${this.mock.url}/v1` },
      ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== "agent")),
    };
  }

  async stop() {
    await this.mock.stop();
  }
}
