/** Every page of the console looks like its reference, in both themes and two sizes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { accessOf, signIn, startBrowser, visit } from '../harness/console/browser.js';
import { describeInBrowser } from '../harness/console/console-fixture.js';
import {
  OPERATOR_HOSTS,
  PICTURED_FLEET_FLAGS,
  prepareOperatorFleet,
  untilHostsAreUnknown,
} from '../harness/console/operator-fleet.js';
import { PICTURE_OPTIONS, PICTURE_SIZES, pictureOf } from '../harness/console/page-pictures.js';
import {
  compareWithReferences,
  referencesWithoutPage,
  takePictures,
} from '../harness/console/picture-run.js';
import { addPicturedWork } from '../harness/console/pictured-work.js';
import { type SimulatedFleet, startSimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

describeInBrowser('pictures of the console', suite);

function suite(): void {
  let fleet: SimulatedFleet;
  let browser: Browser;

  before(async () => {
    fleet = await startSimulatedFleet(OPERATOR_HOSTS, 1, PICTURED_FLEET_FLAGS);
    browser = await startBrowser();
    await prepareOperatorFleet(fleet);
    await addPicturedWork(fleet);
    await untilHostsAreUnknown(fleet);
  });
  after(async () => {
    await browser?.close();
    await fleet?.stop();
  });

  test('every page looks like its reference', async () => {
    const pictures = await takePictures(fleet, browser);
    assert.equal(compareWithReferences(pictures).join(''), '');
    assert.deepEqual(referencesWithoutPage(pictures), []);
  });

  test('a changed colour is found', async () => {
    const { server, token } = accessOf(fleet.kubeconfig);
    const { page, context } = await visit(browser, PICTURE_SIZES.desk, 'light', PICTURE_OPTIONS);
    await signIn(page, server, token, 'rollouts/default/till');
    await page.getByRole('heading', { level: 1, name: 'till' }).waitFor();
    await page.getByText('1 host failed; the limit is 0').first().waitFor();
    await page.addStyleTag({ content: 'body, main { background: #c00000 !important; }' });
    const name = 'rollout-light-desk';
    const [difference = ''] = compareWithReferences(
      new Map([[name, await pictureOf(page, 'light', 'desk')]]),
    );
    assert.match(
      difference,
      /^rollout-light-desk: [\d.]+ % of the pixels differ, see .*rollout-light-desk-difference\.png/,
    );
    await context.close();
  });
}
