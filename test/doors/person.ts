// A person at the TypeScript client, in one space of a session: `node person.js URL KEY SESSION SPACE`. Each line that
// comes in is an order, and for each goes out one line:
//
//   {"ask": "…"}          posts a text that mentions the agent      {"asked": "the id of the message"}
//   {"answers": [{…}]}    answers what waits, the oldest first      {"answered": ["the tool"]}
//   {}                    reads until the agent has finished        {"texts": ["…"]}
import { createInterface } from "node:readline";
import { Shoal } from "@shoal-dev/client";

const [url = "", key = "", session = "", space = ""] = process.argv.slice(2);
const shoal = new Shoal({ url, key, session });

interface Order {
  readonly ask?: string;
  readonly answers?: readonly Record<string, unknown>[];
}

async function play({ ask, answers }: Order): Promise<unknown> {
  if (ask !== undefined) return { asked: (await shoal.send(space, ask, { mentions: ["shop-agent"] })).id };
  if (answers !== undefined) {
    const answered: string[] = [];
    for (const [i, { id }] of (await shoal.pending({ space })).entries()) answered.push((await shoal.answer(id, { result: answers[i] })).toolName);
    return { answered };
  }
  for await (const message of shoal.watch(space)) {
    if (message.entityId === "shop-agent" && message.status !== "streaming") {
      return { texts: message.parts.flatMap((part) => (part.type === "text" && "text" in part ? [part.text] : [])) };
    }
  }
  throw new Error("The stream has ended.");
}

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await play(JSON.parse(line) as Order)));
