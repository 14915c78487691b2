/**
 * A Docker with `live-restore` keeps its containers running during a restart: a restart of the daemon must not change
 * them.
 */
import { test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { EngineFixture } from '../../harness/engines/engine-fixture.js';
import { engineUpgraded } from './engine-upgraded.js';

test('an upgrade of a Docker with live-restore changes no container', {
  timeout: 180_000,
}, async (context) => {
  const fixture = await EngineFixture.open('docker', { liveRestore: true });
  if (typeof fixture === 'string')
    return leaveOut(context, 'an upgrade of Docker with live-restore', fixture);
  try {
    await engineUpgraded(fixture);
  } finally {
    await fixture.close();
  }
});
