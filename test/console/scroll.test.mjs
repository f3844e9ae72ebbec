// A long space is scrolled without a stutter.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go, operator, stage } from "./stage/stage.mjs";
import { longestTasks } from "./stage/tasks.mjs";

const s = stage({ limit: 480_000 });

/** SHOAL_MESSAGES measures another number. */
const count = Number(process.env.SHOAL_MESSAGES ?? 800);
/** How many messages may be drawn between two frames (growBy in web/src/space/timeline/view.ts). */
const most = 12;
/** How many elements a message of one line may have before anybody points at it. */
const mostElements = 20;
const texts = [
  (i) => `Line ${i}. The **school** turned at \`${i}\` knots, and _nobody_ had said so. See [the log](https://example.org/${i}).`,
  (i) => `Line ${i}.\n\n- one fish, two fish\n- red fish, blue fish\n  - and the one that got away\n\n| knots | fish |\n| --- | ---: |\n| ${i} | ${i * 7} |`,
  (i) => `Line ${i}.`,
  (i) => `Line ${i}.\n\n\`\`\`js\nconst fish = ${i};\nfor (const f of school(fish)) swim(f);\n\`\`\`\n\nThat is all that there is to say about it.`,
];

/** Counts the messages that the timeline gets between two frames; `mostDrawn` is the highest count. */
const countDrawn = (page) => page.evaluate(() => {
  let drawn = 0;
  globalThis.mostDrawn = 0;
  new MutationObserver((changes) => {
    drawn += changes.flatMap((c) => [...c.addedNodes]).filter((n) => n instanceof Element && n.matches("[data-message]")).length;
    globalThis.mostDrawn = Math.max(globalThis.mostDrawn, drawn);
  }).observe(document.querySelector("[role=log]"), { childList: true });
  const frame = () => {
    drawn = 0;
    requestAnimationFrame(frame);
  };
  frame();
});

/** Collects the times between frames from now on. */
const watchFrames = (page) => page.evaluate(() => {
  globalThis.gaps = [];
  let last;
  const frame = (at) => {
    if (last !== undefined) globalThis.gaps.push(at - last);
    last = at;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
});
/** The collected times in words. */
const framesOf = (page) => page.evaluate(() => `${globalThis.gaps.filter((ms) => ms > 60).length} of ${globalThis.gaps.length} frames took more than 60 ms, the longest ${Math.round(Math.max(...globalThis.gaps))} ms`);

/** What the page does from now on, in counts and seconds of its main thread, which other programs on the machine disturb less than frames. */
async function workOf(context, page) {
  const cdp = await context.newCDPSession(page);
  await cdp.send("Performance.enable");
  const read = async () => Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  const before = await read();
  return async () => {
    const after = await read();
    const since = (name) => after[name] - before[name];
    return [
      ...["LayoutCount", "RecalcStyleCount"].map((name) => `${name} ${since(name)}`),
      ...["RecalcStyleDuration", "LayoutDuration", "ScriptDuration", "TaskDuration"].map((name) => `${name} ${since(name).toFixed(2)} s`),
      `Nodes ${after.Nodes}`,
    ].join(", ");
  };
}

/** One turn of the wheel, and the frames that follow it. */
async function turn(page, by) {
  await page.mouse.wheel(0, by);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

// What a task costs depends on the machine, and is reported; what makes it long is counted.
test(`at most ${most} messages are drawn between two frames while ${count} scroll`, async (t) => {
  await s.server.at("POST", "/entities", { id: "ada", kind: "human", name: "Ada" });
  await s.server.at("POST", "/spaces", { id: "deep", name: "Deep", members: ["operator", "ada"] }, { as: "operator" });
  for (let i = 0; i < count; i += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, j) => s.server.says((i + j) % 7 < 4 ? "ada" : "operator", "deep", texts[(i + j) % texts.length](i + j), { triggerAgents: false })));
  }
  const { person, page } = await operator(s);
  const first = page.locator('[data-seq="1"]');
  const toTheNewest = async () => {
    await go(s, page, `/spaces/deep?seq=${count}`);
    await page.locator(`[data-seq="${count}"]`).waitFor();
    await page.locator("[data-timeline]").hover();
    await countDrawn(page);
  };
  const toTheFirst = () =>
    eventually("the first message is on the screen", async () => {
      for (let i = 0; i < 20; i++) await turn(page, -600);
      return (await first.count()) > 0;
    }, 400_000);
  await toTheNewest();
  await watchFrames(page);
  const work = await workOf(person.context, page);
  await toTheFirst();
  t.diagnostic(`${count} messages: ${await framesOf(page)}`);
  t.diagnostic(`work of the page: ${await work()}`);
  // A trace costs time itself, so the frames above were counted without one.
  await toTheNewest();
  const tasks = await longestTasks(s.browser, page, toTheFirst);
  // What the machine does to a page without anything on it, to compare.
  const empty = await person.context.newPage();
  await empty.setContent("<div style='height: 400000px'></div>");
  await empty.bringToFront();
  await empty.mouse.move(300, 300);
  await watchFrames(empty);
  for (let i = 0; i < 200; i++) await turn(empty, 600);
  t.diagnostic(`an empty page: ${await framesOf(empty)}`);
  for (const { ms, parts } of tasks) t.diagnostic(`${ms.toFixed(1)} ms: ${parts}`);
  assert.ok(tasks.length > 0, "the trace has no task");
  // Those that have scrolled past under the pointer have their actions.
  const elements = await page.locator("article").evaluateAll((all) => Math.min(...all.map((a) => a.querySelectorAll("*").length)));
  t.diagnostic(`the smallest message has ${elements} elements`);
  assert.ok(elements <= mostElements, `the smallest message has ${elements} elements`);
  const drawn = await page.evaluate(() => globalThis.mostDrawn);
  assert.ok(drawn > 0 && drawn <= most, `${drawn} messages were drawn between two frames`);
  await person.clean();
  await person.close();
});
