import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Authorizer } from '../../../coordinator/access/rbac-authorizer.js';
import { AuthFilter, type Caller } from '../../../coordinator/api/auth/auth-filter.js';
import { ResourceTable } from '../../../coordinator/api/discovery/resource-table.js';
import { readRequest } from '../../../coordinator/api/http/request-info.js';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const BURST = 2;

test('concurrent requests are limited by network: another address in one IPv6 prefix is the same client', () => {
  const gate = new AuthFilter({
    resources: new ResourceTable(ALL_KINDS),
    identities: {
      authorizer: { decide: () => ({ allowed: true, reason: '' }) } as unknown as Authorizer,
      authenticate: async () => undefined,
    },
    sessions: { authorizationOf: () => undefined },
    clientLimits: { requestsPerSecond: 1, burst: BURST },
    clock: new ManualClock(),
  });
  const info = readRequest('GET', '/api/v1/nodes');
  const ask = (username: string, remoteAddress: string) => {
    const caller = { method: 'GET', headers: {}, headersDistinct: {}, socket: { remoteAddress } };
    gate.authorize({ user: { username, groups: [] } }, info, caller as unknown as Caller);
  };
  for (let host = 1; host <= BURST; host += 1) ask('eve', `2001:db8:1:2::${host}`);
  assert.throws(() => ask('eve', '2001:db8:1:2::ffff'), { reason: 'TooManyRequests' });
  ask('eve', '2001:db8:1:3::1');
  ask('adam', '2001:db8:1:2::1');
});
