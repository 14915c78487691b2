/** The byte counts of a link, and their presentation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProcessUsage, storedBytesIn } from '../../../agent/node/process-usage.js';
import { agentText, linkText, withMeters } from '../../../coordinator/api/fleet/host-telemetry-resource.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import {
  type BytesByCause,
  LINK_CAUSES,
  LINK_METER_ANNOTATION,
} from '../../../shared/kube/fleet/host-meter-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { acknowledgementBytes, LinkBytes, LinkMeter, wireBytes } from '../../../shared/link/link-meter.js';
import { nodeObject } from '../../harness/objects/object-builders.js';

const NOTHING = Object.fromEntries(LINK_CAUSES.map((cause) => [cause, 0])) as BytesByCause;

/** The kernel's count for one heartbeat on a real link: two segments from the host, one to it. */
const BEAT = { up: 28 + 2 * 52, down: 24 + 52 };

test("the metered bytes of a heartbeat match the kernel's count on a real link, so an idle day is below 2 MB", () => {
  const bytes = new LinkBytes();
  new LinkMeter(bytes).heartbeat();
  assert.deepEqual([bytes.of('up', 'heartbeats'), bytes.of('down', 'heartbeats')], [BEAT.up, BEAT.down]);
  assert.ok(bytes.total * 8_640 < 2_000_000, String(bytes.total));
});

test('the metered size of a frame includes masks, lengths, records and segments', () => {
  const cases: [payload: number, direction: 'up' | 'down', wire: number][] = [
    [0, 'down', 2 + 22 + 52],
    [125, 'up', 2 + 4 + 125 + 22 + 52],
    [126, 'down', 4 + 126 + 22 + 52],
    [65_536, 'up', 10 + 4 + 65_536 + 5 * 22 + 46 * 52],
  ];
  for (const [payload, direction, wire] of cases) assert.equal(wireBytes(payload, direction), wire);
  assert.equal(acknowledgementBytes(100), 52);
  assert.equal(acknowledgementBytes(1_448 * 4), 2 * 52);
});

test('messages are metered by cause, and those of a stream by its purpose', () => {
  const bytes = new LinkBytes();
  const fleet = new LinkBytes();
  const meter = new LinkMeter(bytes, fleet);
  const request = { podUid: 'u', container: 'c' };
  const process = { stdin: true, stdout: true, stderr: true, tty: false };
  const log = { type: 'log', follow: true, previous: false, timestamps: false } as const;
  meter.message('up', { kind: 'status', id: 1, hostTimeMs: 0, pods: [], removed: [] }, 100);
  meter.message('down', { kind: 'statusAck', id: 1 }, 10);
  meter.message('down', { kind: 'desired', id: 1, revision: 1, set: [], removed: [] }, 1_000);
  meter.message('down', { kind: 'streamOpen', stream: 1, request: { ...request, ...log } }, 50);
  meter.message(
    'down',
    { kind: 'streamOpen', stream: 2, request: { ...request, ...process, type: 'exec', command: [] } },
    50,
  );
  meter.message('up', { kind: 'streamData', stream: 1, bytes: new Uint8Array() }, 5_000);
  meter.message('up', { kind: 'streamArrived', bytes: 1 }, 10);
  meter.message('up', { kind: 'streamData', stream: 2, bytes: new Uint8Array() }, 500);
  meter.message('up', { kind: 'streamClose', stream: 2 }, 10);
  meter.message('up', { kind: 'streamClose', stream: 1 }, 10);
  meter.message('up', { kind: 'renew', csr: '' }, 10);
  const up = bytes.byCause('up');
  const carried = LINK_CAUSES.filter((cause) => up[cause] > 0);
  assert.deepEqual(carried, ['status', 'logs', 'exec', 'other']);
  assert.ok(up.logs > 5_000 && up.exec > 500 && up.exec < 1_000 && up.status > 100 && up.other > 10);
  assert.ok(bytes.of('down', 'desired') > 1_000);
  assert.equal(fleet.total, bytes.total);
});

test('disk writes are counted by the kernel, less cancelled ones', () => {
  const io = 'rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 8192\ncancelled_write_bytes: 4096\n';
  assert.equal(storedBytesIn(io), 4_096);
  assert.equal(storedBytesIn(''), undefined);
  assert.ok(readProcessUsage().memoryBytes > 1e6);
});

test('a Node that is read shows its meters as text, and a write does not store them', () => {
  const since = '2026-01-31T09:00:00Z';
  const link = {
    since,
    connects: 2,
    up: { ...NOTHING, heartbeats: 1_500 },
    down: { ...NOTHING, logs: 2.5e6 },
  };
  const words = 'round trip 12 ms; 2 connections since 2026-01-31T09:00:00Z; heartbeats 1.5 kB, logs 2.5 MB';
  assert.equal(linkText({ ...link, bytesPerDay: 1_797_120, roundTripMs: 12 }), `1.8 MB a day; ${words}`);
  const agent = { reportedAt: since, since, memoryBytes: 5.2e7, writtenBytes: 900, diskWrittenBytes: 4_096 };
  assert.match(agentText(agent), /^52\.0 MB of memory; 900 B written \(4\.1 kB by the kernel's count\)/);

  const node = nodeObject('n1') as Node;
  const record = { revision: 7, object: () => node, bytes: () => Buffer.from(JSON.stringify(node)) };
  const meters = { kind: 'HostMeters', apiVersion: 'v1', metadata: { name: 'n1' }, link };
  const shown = JSON.parse(withMeters(record, meters).bytes().toString('utf8')) as Node;
  assert.match(shown.metadata.annotations?.[LINK_METER_ANNOTATION] ?? '', /logs 2\.5 MB/);
  assert.equal(withMeters(record, undefined), record);
  nodeKind.prepareForUpdate(shown, node, { user: { name: 'ann', groups: [] } } as never);
  assert.equal(shown.metadata.annotations?.[LINK_METER_ANNOTATION], undefined);
});
