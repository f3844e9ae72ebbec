// F6 cycles through the panes.
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeAll, expect, it } from "vitest";
import { usePanes } from "./panes";
import { listenToKeys } from "./shortcuts";

beforeAll(() => {
  listenToKeys();
  // jsdom has no layout: every element counts as visible.
  Object.defineProperty(HTMLElement.prototype, "offsetParent", { get: () => document.body });
});

function House() {
  usePanes();
  return (
    <>
      <nav aria-label="Main">navigation</nav>
      <main>
        <textarea aria-label="Message" />
        <aside>a part of the page</aside>
      </main>
      <aside>panel</aside>
    </>
  );
}

it("cycles forward with F6, and back with Shift", async () => {
  const user = userEvent.setup();
  render(<House />);
  await user.click(screen.getByLabelText("Message"));
  await user.keyboard("{F6}");
  expect(document.activeElement?.textContent).toBe("panel");
  await user.keyboard("{F6}");
  expect(document.activeElement?.tagName).toBe("NAV");
  await user.keyboard("{Shift>}{F6}{/Shift}");
  expect(document.activeElement?.textContent).toBe("panel");
});
