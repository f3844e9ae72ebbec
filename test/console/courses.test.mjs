// Random courses of two browsers of one person: they open, scroll, write, leave, close tabs,
// lose the line and the server, while others post, edit and delete. Nothing counts as read that
// was not on a screen, and nothing that was sent is lost or doubled. SHOAL_COURSES is how many,
// SHOAL_SEED the first seed; a file of stories has time for about 60.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Person } from "./stage/browser.mjs";
import { Cutter } from "./stage/cutter.mjs";
import { isStored } from "./stage/outbox.mjs";
import { eventually, patience, stage } from "./stage/stage.mjs";

Person.serviceWorkers = "allow";
const s = stage();
const courses = Number(process.env.SHOAL_COURSES ?? 3);
const firstSeed = Number(process.env.SHOAL_SEED ?? 1);
const steps = 8;

/** Numbers below n that follow from a seed (mulberry32). */
function dice(seed) {
  let a = seed * 0x9e3779b9;
  return (n) => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

/** The messages that were on a screen, as "space seq"; the pages report them by themselves. */
const onScreen = new Set();

/** A browser of the operator; `url` is the server or a proxy before it. */
class Browser {
  static async at(url) {
    const b = new Browser();
    b.url = url;
    b.person = await Person.at(s.browser);
    await b.person.context.exposeFunction("reportOnScreen", (all) => all.forEach((each) => onScreen.add(each)));
    await b.person.context.addInitScript(() => {
      const known = new Set();
      setInterval(() => {
        const box = document.querySelector("[data-timeline]")?.getBoundingClientRect();
        if (box === undefined) return;
        const space = location.pathname.split("/").pop();
        const fresh = [...document.querySelectorAll("[data-message]")]
          .filter((e) => e.getBoundingClientRect().bottom > box.top && e.getBoundingClientRect().top < box.bottom)
          .map((e) => `${space} ${e.dataset.seq}`)
          .filter((each) => !known.has(each));
        fresh.forEach((each) => known.add(each));
        if (fresh.length > 0) void globalThis.reportOnScreen(fresh);
      }, 40);
    });
    b.page = await b.person.open((await s.server.newLink()).replace(s.server.url, url));
    b.page.setDefaultTimeout(patience);
    await b.page.getByRole("navigation", { name: "Main" }).waitFor();
    return b;
  }

  async go(path) {
    if (this.page.isClosed()) {
      this.page = await this.person.context.newPage();
      this.page.setDefaultTimeout(patience);
    }
    await this.page.goto(`${this.url}/s/default${path}`).catch(() => undefined); // The server may be away.
  }
}

let cutter;
let browsers;

/** Two browsers; new ones before the first course and after a course that has failed. */
async function begin() {
  if (browsers !== undefined) return;
  if (cutter === undefined) {
    cutter = await Cutter.before(s.server.url);
    await s.server.at("POST", "/entities", { id: "ada", name: "Ada", kind: "human" });
  }
  browsers = [await Browser.at(s.server.url), await Browser.at(cutter.url)];
}
after(async () => {
  for (const b of browsers ?? []) await b.person.close();
  await cutter?.stop();
});

const state = (space) => s.server.at("GET", `/spaces/${space}`, undefined, { as: "operator" });

/** Fails if a message of Ada counts as read and was on no screen. */
async function check(space, trace) {
  const { firstUnreadSeq } = await state(space);
  const items = await messagesOf(space);
  const read = items.filter((m) => m.entityId === "ada" && (firstUnreadSeq === 0 || m.seq < firstUnreadSeq));
  assert.deepEqual(read.filter((m) => !onScreen.has(`${space} ${m.seq}`)).map((m) => m.seq), [], `read, and not seen, ${trace}`);
  return items;
}

async function course(seed) {
  const roll = dice(seed);
  const space = `course-${seed}`;
  const trace = [];
  const sent = [];
  await s.server.at("POST", "/spaces", { id: space, name: `Course ${seed}`, members: ["operator", "ada"] }, { as: "operator" });
  for (let i = 20 + roll(80); i > 0; i--) await s.server.says("ada", space, roll(5) === 0 ? "A longer line. ".repeat(40) : `Line ${i}.`);
  let away = false;
  const moves = {
    open: (b) => b.go(`/spaces/${space}`),
    leave: (b) => b.go("/settings"),
    scroll: (b) => b.page.mouse.move(600, 400).then(() => b.page.mouse.wheel(0, (roll(2) === 0 ? 1 : -1) * (200 + roll(3000)))).catch(() => undefined),
    rest: (b) => b.page.waitForTimeout(300 + roll(1500)).catch(() => undefined),
    end: (b) => b.page.keyboard.press("End").catch(() => undefined),
    close: (b) => b.page.close(),
    cut: async () => cutter.server.closeAllConnections(),
    write: async (b) => {
      const here = () => !b.page.isClosed() && b.page.url().endsWith(`/spaces/${space}`);
      if (!here() && !away) await b.go(`/spaces/${space}`);
      const field = b.page.getByRole("textbox", { name: "Message" });
      if (!here() || (away && !(await field.isVisible().catch(() => false)))) return;
      const text = `Typed ${seed}.${sent.length}`;
      await field.fill(text);
      await b.page.keyboard.press("Control+Enter");
      // It is sent once the writer sees it in the timeline; what is not yet is a draft.
      await b.page.getByText(text, { exact: true }).first().waitFor();
      await eventually("it is stored in the browser or on the server", async () => (away ? false : (await texts(space)).includes(text)) || (await isStored(b.page, text)));
      sent.push(text);
    },
    change: async () => {
      if (away) return;
      const hers = (await messagesOf(space)).filter((m) => m.entityId === "ada" && m.deletedAt === null);
      const one = hers[roll(hers.length)];
      if (roll(3) === 0) await s.server.at("DELETE", `/messages/${one.id}`, undefined, { as: "ada" });
      else await s.server.at("PATCH", `/messages/${one.id}`, { text: `Changed ${roll(1000)}.` }, { as: "ada" });
    },
    says: async () => void (away || (await s.server.says("ada", space, `More ${roll(1000)}.`))),
    kill: async () => {
      if (away) return;
      await s.server.kill();
      away = true;
    },
    begin: async () => {
      if (!away) return;
      await s.server.begin();
      away = false;
    },
  };
  const names = Object.keys(moves).concat("open", "scroll", "scroll", "rest", "write", "write", "begin");
  try {
    await moves.open(browsers[0]);
    for (let i = 0; i < steps; i++) {
      const name = names[roll(names.length)];
      const which = roll(2);
      trace.push(`${name} ${which}`);
      await moves[name](browsers[which]);
      if (!away) await check(space, `seed ${seed}: ${trace.join(", ")}`);
    }
  } catch (error) {
    error.stack = `seed ${seed}: ${trace.join(", ")}: ${error.stack}`;
    throw error;
  } finally {
    await moves.begin();
  }
  for (const b of browsers) await b.go(`/spaces/${space}`);
  await eventually(`all was sent, seed ${seed}: ${trace.join(", ")}`, async () => {
    const all = await texts(space);
    return sent.every((text) => all.includes(text));
  });
  const all = await texts(space);
  assert.deepEqual(sent.map((text) => [text, all.filter((each) => each === text).length]), sent.map((text) => [text, 1]), `seed ${seed}: ${trace.join(", ")}`);
  await check(space, `at the end, seed ${seed}: ${trace.join(", ")}`);
  return sent.length;
}

const messagesOf = async (space) => (await s.server.at("GET", `/spaces/${space}/messages?limit=200`)).items;
const texts = async (space) => (await messagesOf(space)).map((m) => m.parts[0]?.text);

let sent = 0;
for (let seed = firstSeed; seed < firstSeed + courses; seed++) {
  test(`course ${seed}`, async () => {
    await begin();
    try {
      sent += await course(seed);
    } catch (error) {
      browsers = undefined; // They are somewhere in the middle; the watch closes them with their Chromium or the stage does.
      throw error;
    }
  });
}

test("the courses showed and sent something", (t) => {
  t.diagnostic(`${sent} messages were sent, ${onScreen.size} were on a screen`);
  assert.ok(onScreen.size > 0 && sent > 0);
});
