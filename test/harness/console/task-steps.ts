/** A user's steps through the console, counted: clicks and typed fields. Keys such as Enter are not counted. */
import type { Locator, Page } from 'playwright-core';

export class TaskSteps {
  clicks = 0;
  fields = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator, options: { shift?: boolean } = {}): Promise<void> {
    await target.click(options.shift ? { modifiers: ['Shift'] } : {});
    this.clicks += 1;
  }

  async type(field: Locator, text: string): Promise<void> {
    await field.fill(text);
    this.fields += 1;
  }

  /** Clicks a link or button with exactly this name, anywhere on the page or `within` a part of it. */
  press(name: string | RegExp, within: Page | Locator = this.page): Promise<void> {
    const called = { name, exact: typeof name === 'string' };
    return this.click(within.getByRole('link', called).or(within.getByRole('button', called)).first());
  }

  /** Clicks the button of the open confirmation. */
  confirm(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole('dialog').getByRole('button', { name }));
  }

  /** Types into the palette, whose button is on each page, and takes the offer with this name. */
  async goTo(text: string, offer: string | RegExp): Promise<void> {
    await this.press(/^Go to/);
    await this.type(this.page.getByRole('combobox', { name: /^Go to/ }), text);
    await this.page.getByRole('option', { name: offer }).first().waitFor();
    await this.page.keyboard.press('Enter');
  }
}
