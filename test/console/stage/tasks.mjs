// What the tasks of a page's main thread cost, in processor time: what other programs do on
// the machine meanwhile does not count.

const categories = ["toplevel", "devtools.timeline"];

/** Does something on a page and returns its longest tasks, the longest first: {ms, parts}, where `parts` are the ms of what each consisted of. */
export async function longestTasks(browser, page, act, most = 5) {
  await browser.startTracing(page, { categories });
  await act();
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const mains = traceEvents.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`);
  const byThread = new Map(mains.map((main) => [main, []]));
  for (const event of traceEvents) if (event.ph === "X" && event.tdur !== undefined) byThread.get(`${event.pid} ${event.tid}`)?.push(event);
  const cost = (events) => events.filter(isTask).reduce((sum, e) => sum + e.tdur, 0);
  const [events = []] = [...byThread.values()].sort((a, b) => cost(b) - cost(a));
  const tasks = events.filter(isTask).sort((a, b) => b.tdur - a.tdur).slice(0, most);
  return tasks.map((task) => {
    const parts = {};
    for (const e of events) if (!isTask(e) && e.ts >= task.ts && e.ts + e.dur <= task.ts + task.dur) parts[e.name] = (parts[e.name] ?? 0) + e.tdur / 1000;
    const shown = Object.entries(parts).filter(([, ms]) => ms >= 1).sort(([, a], [, b]) => b - a).slice(0, 8);
    return { ms: task.tdur / 1000, parts: shown.map(([name, ms]) => `${name} ${ms.toFixed(1)}`).join(", ") };
  });
}

const isTask = (event) => /(^|::)RunTask$/.test(event.name);
