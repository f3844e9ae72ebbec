// Pages that are closed while they commit a navigation, for TestAPageThatNavigatesIsClosed.
import { createServer } from "node:http";
import { test } from "node:test";
import { Person } from "../stage/browser.mjs";
import { stage } from "../stage/stage.mjs";

const s = stage({ limit: 60_000 });

for (let i = 1; i <= 4; i++) {
  test(`round ${i}`, async () => {
    const site = createServer((req, res) => {
      res.setHeader("Content-Type", "text/html");
      res.end(req.url === "/" ? '<meta http-equiv="refresh" content="0; URL=/next">' : "<title>Next</title>");
    });
    await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
    const person = await Person.at(s.browser);
    const page = await person.open(`http://127.0.0.1:${site.address().port}/`);
    await page.evaluate(() => 1).catch(() => {});
    await person.close();
    site.closeAllConnections();
    site.close();
  });
}
