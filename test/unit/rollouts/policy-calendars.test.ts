/** The calendar of a policy, with a section for each group of hosts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PolicyCalendars } from '../../../coordinator/controllers/views/policy-calendars.js';
import type { Informers } from '../../../coordinator/informers/informer.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { nodeObject } from '../../harness/objects/object-builders.js';

const POLICY = {
  metadata: { namespace: 'default', name: 'at-night' },
  spec: {
    windows: [{ schedule: '0 3 * * *', durationSeconds: 7_200, timeZoneLabel: 'tz', timeZone: 'UTC' }],
  },
};

test('groups with equal numbers of hosts are sorted by zone, whatever the order of the Nodes', async () => {
  const nodes = ['Europe.Madrid', 'Europe.Berlin', 'Asia.Tokyo', 'Europe.Berlin', 'Europe.Madrid'].map(
    (tz, index) => nodeObject(`n${index}`, { labels: { tz } }),
  );
  for (const listed of [nodes, [...nodes].reverse()]) {
    const informers = {
      rolloutPolicies: { get: () => POLICY, indexed: () => [POLICY] },
      nodes: { list: () => listed },
      daemonSets: { indexed: () => [] },
    } as unknown as Informers;
    const calendars = new PolicyCalendars({ informers, clock: new ManualClock(1_800_000_000_000) });
    const { zones } = await calendars.calendarOf({ namespace: 'default', name: 'at-night' }, 1);
    assert.deepEqual(
      zones.map((group) => [group.zones, group.hosts]),
      [
        [['Europe/Berlin'], 2],
        [['Europe/Madrid'], 2],
        [['Asia/Tokyo'], 1],
      ],
    );
  }
});
