/** Changes between the decision about an upgrade and the registration of the session. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { LinkSocket } from '../../../coordinator/hub/sessions/link-socket.js';
import { LinkUpgrader } from '../../../coordinator/hub/sessions/link-upgrade.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { until } from '../../harness/basics/wait-until.js';
import { revokeAfterVerdict } from '../../harness/hub/late-revocation.js';
import { rawAgent } from '../../harness/hub/raw-agent.js';
import { withEachHub } from '../../harness/link-threads/threaded-hub.js';

withEachHub('a credential that is deleted before the proof of its key ends the link', async (fixture) => {
  revokeAfterVerdict(fixture, 'n1');
  const agent = await rawAgent(fixture, 'n1');
  assert.equal((await agent.waitFor('goodbye')).reason, 'refused');
  await until(() => agent.closed !== undefined);
});

test('a link whose upgrade completes after the stop is closed', () => {
  const calls: string[] = [];
  const upgrader = new LinkUpgrader({
    authenticator: { claimOf: () => Promise.reject(new Error('unused')) },
    clusterUID: 'c',
    clock: systemClock,
    accept: () => calls.push('accept'),
    log: silentLogger,
  });
  const socket = Object.assign(new EventEmitter(), { terminate: () => calls.push('terminate') });
  const open = () =>
    upgrader.opened(
      { claim: { node: 'n1', hash: 'h' }, nonce: undefined },
      socket as unknown as LinkSocket,
      { remoteAddress: '', bytesRead: () => 0 },
      () => undefined,
    );
  open();
  upgrader.close();
  open();
  assert.deepEqual(calls, ['accept', 'terminate']);
});
