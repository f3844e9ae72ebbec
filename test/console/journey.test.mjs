// The first minute: from the printed link to the approved order, by a program that knows
// only what is on the screen (roles and names) and does nothing but click and type. What it
// does is counted.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { axe, overflow, Person } from "./stage/browser.mjs";
import { eventually, focused, patience, picture, stage } from "./stage/stage.mjs";

Person.serviceWorkers = "allow";

const most = 5;

/** A newcomer at a page, and how often they have clicked. */
class Newcomer {
  static async at(s, width, theme) {
    const n = new Newcomer();
    n.clicks = 0;
    n.person = await Person.at(s.browser, { width, theme });
    n.page = await n.person.open(await s.server.newLink());
    n.page.setDefaultTimeout(patience);
    n.name = `journey-${width}-${theme}`;
    return n;
  }

  /** Clicks what has this role and name; it must be on the screen without scrolling. */
  async click(role, name) {
    const found = this.page.getByRole(role, { name, exact: typeof name === "string" }).filter({ visible: true }).first();
    await found.waitFor();
    await eventually(`${name} is on the screen`, async () => {
      const box = await found.boundingBox();
      const { width, height } = this.page.viewportSize();
      return box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
    });
    this.clicks++;
    await found.click();
  }

  reads(text) {
    return this.page.getByText(text).filter({ visible: true }).first().waitFor();
  }

  /** The page is sound: for assistive technology, and nothing sticks out. */
  async sound(step) {
    assert.deepEqual(await axe(this.page), [], step);
    assert.deepEqual(await overflow(this.page), [], step);
    await picture(this.page, `${this.name}-${step}`);
  }

  async close() {
    await this.person.clean();
    await this.person.close();
  }
}

const ordered = async (s, space) => JSON.stringify(await s.server.at("GET", `/spaces/${space}/messages`)).includes("your laptop is ordered");

for (const [width, theme] of [["wide", "light"], ["phone", "dark"]]) {
  describe(`at ${width} size, ${theme}`, () => {
    const s = stage();

    test("the printed link leads to the approved order in five clicks", async (t) => {
      const begun = Date.now();
      const n = await Newcomer.at(s, width, theme);
      await n.reads(/an example of an agent that lives in this server/);
      const field = n.page.getByRole("textbox", { name: "Message" });
      await focused(field);
      if (width === "wide") await n.reads("Enter sends, Shift+Enter starts a new line"); // A phone has no keys to explain.
      await n.sound("greeted");

      await n.click("button", "I need a laptop");
      await n.reads("Lark Pro 16");
      await n.reads("$1,199");
      await n.page.getByRole("button", { name: "Choose" }).nth(1).waitFor();
      const cards = await Promise.all(["Lark Air 13", "Lark Pro 16"].map((name) => n.page.getByRole("group", { name }).boundingBox()));
      if (width === "wide") assert.equal(cards[0].y, cards[1].y, "the options are side by side");
      assert.equal(await n.page.getByRole("button", { name: /JSON|problem/ }).count(), 0, "what few need is not in the way");
      await n.sound("cards");

      await n.click("button", "Choose");
      await n.page.getByRole("group", { name: "Lark Air 13" }).getByText("Chosen", { exact: true }).waitFor();
      await n.page.getByRole("group", { name: "Lark Pro 16" }).getByText("Not chosen").waitFor();
      assert.equal(await n.page.getByRole("button", { name: "Choose" }).count(), 0, "one choice settles both cards");
      await n.reads(/Waiting for approval in Purchasing: Place order/);
      await n.sound("chosen");

      await n.click("link", "Review request");
      const request = n.page.getByRole("article", { name: "Place order" });
      await request.getByText("I need a laptop").first().waitFor(); // what was asked,
      await request.getByText(/Operator in\s*Welcome/).waitFor(); // by whom and where,
      await request.getByText("A good choice: the Lark Air 13.").waitFor(); // and what was said last
      await request.getByText("$1,199").waitFor();
      await request.getByRole("button", { name: "Edit and approve" }).waitFor();
      await n.sound("request");

      await n.click("button", "Approve");
      await eventually("the order is placed", () => ordered(s, "welcome"));
      await n.click("link", "Back to Welcome");
      await n.reads(/your laptop is ordered/);
      await n.sound("ordered");

      t.diagnostic(`${n.clicks} clicks, ${((Date.now() - begun) / 1000).toFixed(1)} s with the checks of each page`);
      assert.ok(n.clicks <= most, `${n.clicks} clicks`);
      await n.close();
    });

    test("somebody who goes elsewhere and types gets the same, with the keyboard and at most five clicks", async () => {
      const n = await Newcomer.at(s, width, theme);
      if (width === "phone") await n.click("link", "All spaces");
      await n.click("link", /Purchasing/);
      const field = n.page.getByRole("textbox", { name: "Message" });
      await focused(field);
      await n.page.keyboard.type("I need");
      await n.page.keyboard.press("Shift+Enter");
      await n.page.keyboard.type("a laptop");
      assert.equal(await field.inputValue(), "I need\na laptop");
      await n.page.keyboard.press("Enter");
      await n.click("button", "Choose");
      await n.click("button", "Approve");
      await n.reads(/your laptop is ordered/);
      await eventually("the order is placed", () => ordered(s, "purchasing")); // The screen shows it first, while the agent writes.
      assert.ok(n.clicks <= most, `${n.clicks} clicks`);
      await n.sound("elsewhere");
      await n.close();
    });
  });
}
