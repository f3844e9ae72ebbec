// What the tests of this directory let the client do: `node driver.js TASK URL KEY …`. Each
// line of the output is a JSON value.
import { createInterface } from "node:readline";
import { onTool } from "@shoal-dev/client/tools";
import { serveAgent, Shoal, ShoalError, type Steer, textOf } from "@shoal-dev/client";

const [task = "", url = "", key = "", ...rest] = process.argv.slice(2);
const shoal = new Shoal({ url, key });
const print = (value: unknown): void => console.log(JSON.stringify(value));

/** The error of a call as its class, code and status; null for a call that succeeded. */
async function refusal(call: Promise<unknown>): Promise<[string, string, number] | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (!(error instanceof ShoalError)) throw error;
    return [error.constructor.name, error.code, error.status];
  }
}

/** Reads the first message of an agent to its end, through each of several addresses. */
async function watch(sender: string): Promise<void> {
  const readers = rest.slice(1).map(async (address, i) => {
    let before = "";
    for await (const message of new Shoal({ url: address, key }).watch("welcome")) {
      if (message.entityId !== sender) continue;
      const text = textOf(message);
      if (!text.startsWith(before)) print({ wrong: `${JSON.stringify(text.slice(-40))} follows ${JSON.stringify(before.slice(-40))}` });
      if (before === "" && text !== "") print({ reader: i + 1, read: text.length });
      before = text;
      if (message.status !== "streaming") return text;
    }
    return "";
  });
  print({ texts: await Promise.all(readers) });
}

/** Serves an agent that does what the text of the trigger says, until the input ends. A long story is as long as that. */
async function serve(agent: string): Promise<void> {
  const stop = new AbortController();
  const enough = new AbortController();
  createInterface({ input: process.stdin }).on("close", () => (story ? enough : stop).abort());
  let story = false;
  const onError = (error: unknown): void => print({ failed: String(error) });
  await serveAgent(shoal, agent, async (work) => {
    story = work.claimed.prompt.includes("long story");
    if (story) {
      let written = 0;
      while (!enough.signal.aborted) {
        await work.text(`${written++} größer 🐟 `);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      print({ written });
    } else if (work.claimed.prompt.includes("cancel")) {
      await work.text("Working");
      await new Promise<void>((resolve) => work.signal.addEventListener("abort", () => resolve()));
      print({ ended: String(work.signal.reason.code ?? work.signal.reason.name) });
      await work.text("more").catch((error: ShoalError) => print({ after: String(error.code) }));
    } else if (work.claimed.prompt.includes("card")) {
      const { day } = (await work.askCard("Trip", { to: "Oslo" })) as { day: string };
      await work.text(`On ${day}.`);
    } else if (work.claimed.prompt.includes("steer")) {
      await work.text("Waiting");
      const message = await new Promise<Steer>((resolve) => work.onMessage(resolve));
      print({ steered: message.text });
      await work.steered(message.runId);
      await work.text("And done.");
    } else if (work.claimed.prompt.includes("fail")) {
      throw new Error("no trains to Oslo");
    } else if (work.claimed.prompt.includes("fault")) {
      (undefined as unknown as string).trim();
    } else {
      await work.text("One moment. ");
      await work.card("TripCard", { to: "Oslo" });
      const trip = await work.call("book", { to: "Oslo" }, ({ to }) => `booked: ${to}`, { permission: true }).catch((error: Error) => `${error.name}: ${error.message}`);
      const seat = await work.ask("Which seat?", ["window", "aisle"]);
      await work.usage("script", { input: 100, output: 10 }, 0.5);
      await work.text(`${trip}, ${seat}.`);
    }
  }, { signal: stop.signal, onError });
  print({ served: true });
}

switch (task) {
  case "watch":
    await watch(rest[0] ?? "");
    break;
  case "serve":
    await serve(rest[0] ?? "");
    break;
  case "send": {
    const { message, answer } = await shoal.send("welcome", rest[0] ?? "", { mentions: [rest[1] ?? ""], wait: 20_000 });
    print({ asked: textOf(message), answer: textOf(answer), from: answer.entityId });
    break;
  }
  case "tools":
    onTool(shoal, "Trip", async ({ to }: { to: string }, { signal }) => {
      print({ called: to });
      if (rest.includes("wait")) {
        await new Promise((ended) => signal.addEventListener("abort", ended));
        print({ ended: "aborted" });
      }
      if (rest.includes("fail")) throw new Error("no calendar");
      return { day: "Friday" };
    }, { mine: rest.includes("mine") });
    break;
  case "inbox":
    for await (const { space, messages } of shoal.inbox()) {
      print({ space: space.id, texts: messages.map(textOf) });
      await shoal.send(space.id, "I read you.", { mentions: [messages[0]?.entityId ?? ""] });
    }
    break;
  case "skew": {
    const texts: string[] = [];
    const say = (error: ShoalError): never => {
      texts.push(`${error.code}: ${error.message}`);
      throw error;
    };
    const refused = {
      path: await refusal(shoal.api.GET("/v1/of-another-server" as "/v1/me").catch(say)),
      method: await refusal(shoal.api.DELETE("/v1/me" as never).catch(say)),
      field: await refusal(shoal.api.POST("/v1/sessions/{session}/spaces", { params: { path: { session: "default" } }, body: { name: "New", colour: "red" } as never }).catch(say)),
      value: await refusal(shoal.api.POST("/v1/sessions/{session}/spaces", { params: { path: { session: "default" } }, body: { name: "" } }).catch(say)),
      known: await refusal(shoal.send("welcome", "Hello")),
    };
    print({ refused, texts });
    break;
  }
  case "refusals": {
    const [space = "", pending = ""] = rest;
    const params = { path: { session: "default" } };
    const refused = {
      wrongKey: await refusal(new Shoal({ url, key: "wrong" }).send("welcome", "Hello")),
      wrongKeyStream: await refusal(new Shoal({ url, key: "wrong" }).follow().batches().next()),
      strangersSpace: await refusal(shoal.send(space, "Hello")),
      strangersStream: await refusal(shoal.follow({ space }).batches().next()),
      strangersMessages: await refusal(shoal.messages(space)),
      unknownAgent: await refusal(serveAgent(shoal, "nobody", () => undefined)),
      tooLarge: await refusal(shoal.send("welcome", "x".repeat(300_000))),
      invalid: await refusal(shoal.api.POST("/v1/sessions/{session}/spaces", { params, body: { id: "No!", name: "" } as never })),
      first: await refusal(shoal.answer(pending, { approved: true })),
      again: await refusal(shoal.answer(pending, { approved: true })),
      different: await refusal(shoal.answer(pending, { approved: false })),
      silent: await refusal(new Shoal({ url: "http://127.0.0.1:9", key, retryForMs: -1 }).caller()),
      unknownPath: await refusal(shoal.api.GET("/v1/of-another-server" as "/v1/me")),
    };
    print({ refused });
    break;
  }
}
