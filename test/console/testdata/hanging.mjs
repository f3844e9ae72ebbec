// Stories that wait for what never comes, for TestAHangingStoryIsNamed.
import { test } from "node:test";
import { Person } from "../stage/browser.mjs";
import { stage } from "../stage/stage.mjs";

const s = stage({ limit: 4000 });

test("the page never answers", async () => {
  const person = await Person.at(s.browser);
  const page = await person.open(s.server.url);
  await page.evaluate(() => new Promise(() => {}));
});

test("the next one has a browser", async () => {
  const person = await Person.at(s.browser);
  await person.open(s.server.url);
  await person.close();
});

test("nothing ever answers", () => new Promise(() => {}));
