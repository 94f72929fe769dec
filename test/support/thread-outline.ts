// The list of threads at the side of the console, as a person reads it.
import type { Page } from "playwright-core";
import { eventually } from "./eventually.ts";

/** The list as a person reads it, from top to bottom: headings in brackets, and titles. */
function outline(page: Page): Promise<string[]> {
  return page
    .getByRole("navigation")
    .locator(".heading-name, .row-title")
    .evaluateAll((found) =>
      found
        .map((element) => {
          const { textContent, className } = element as unknown as { textContent: string; className: string };
          const text = className === "heading-name" ? `[${textContent}]` : textContent;
          return [(element as unknown as HTMLLike).getBoundingClientRect().top, text] as const;
        })
        .sort(([one], [other]) => one - other)
        .map(([, text]) => text),
    );
}

interface HTMLLike {
  getBoundingClientRect(): { readonly top: number };
}

/** Waits until the list reads so. */
export async function reads(page: Page, expected: readonly string[]): Promise<void> {
  await eventually(
    async () => JSON.stringify(await outline(page)) === JSON.stringify(expected),
    `the list reads ${expected.join(", ")}`,
  );
}
