/** A user's steps with a fleet that is too large to read. Results are compared with the fleet's size. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Most rows in the page for any number of hosts: the visible rows and some around them. */
const MOST_ROWS = 80;

interface LargeFleet {
  hosts: number;
  /** A label selector, and the number of hosts that it matches. */
  selector: string;
  selected: number;
  /** Name of the last host in order. */
  last: string;
}

/** A scrollable element. The tests are compiled without the types of a browser. */
interface Scrolled {
  scrollHeight: number;
  scrollTo(x: number, y: number): void;
}

/**
 * Expects a page with the fleet sorted by name. Counts add up, the table scrolls, the filter selects, the last host
 * opens.
 */
export async function browseLargeFleet(page: Page, fleet: LargeFleet): Promise<void> {
  const { hosts, selector, selected, last } = fleet;
  await page.getByText(`${hosts} hosts`, { exact: true }).waitFor();
  assert.equal(await countedHosts(page), hosts);
  assert.equal(await announcedRows(page), hosts);
  const table = page.getByRole('region', { name: 'Hosts', exact: true });
  await table.getByRole('link').first().waitFor();
  assert.ok((await rows(page)) <= MOST_ROWS, 'rows at the beginning');
  await table.evaluate((region) => {
    const scrolled = region as unknown as Scrolled;
    scrolled.scrollTo(0, scrolled.scrollHeight);
  });
  await table.getByRole('link', { name: last, exact: true }).waitFor();
  assert.ok((await rows(page)) <= MOST_ROWS, 'rows at the end');

  const filter = page.getByRole('searchbox', { name: 'Filter' });
  await filter.fill(selector);
  await page.getByText(`${selected} hosts`, { exact: true }).waitFor();
  assert.equal(await countedHosts(page), selected);
  assert.equal(await announcedRows(page), selected);
  await filter.fill(last);
  await page.getByText('1 host', { exact: true }).waitFor();
  await table.getByRole('link', { name: last, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: last }).waitFor();
}

/** Sum of the counts of all conditions. */
async function countedHosts(page: Page): Promise<number> {
  const counts = await page.locator('fieldset button[data-condition] strong').allTextContents();
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

/** Row count that the table announces to screen readers, without its header. */
async function announcedRows(page: Page): Promise<number> {
  const table = page.getByRole('region', { name: 'Hosts', exact: true }).getByRole('table');
  return Number(await table.getAttribute('aria-rowcount')) - 1;
}

function rows(page: Page): Promise<number> {
  return page.getByRole('region', { name: 'Hosts', exact: true }).getByRole('row').count();
}
