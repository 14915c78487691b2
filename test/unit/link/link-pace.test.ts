/** The heartbeat interval that a Node's settings choose, and the savings on a metered link. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import {
  HEARTBEAT_ANNOTATION,
  heartbeatConfigOf,
  LINK_LABEL,
  scaledGraceMs,
} from '../../../shared/kube/nodes/heartbeat-config.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { decodeFromAgent, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import { ProtocolError } from '../../../shared/link/encoding/schema-combinators.js';
import { type EventsReport, MAX_FRAME_BYTES } from '../../../shared/link/messages/link-messages.js';
import { nodeObject } from '../../harness/objects/object-builders.js';

const METERED = { [LINK_LABEL]: 'metered' };

test('a label stretches the heartbeats, an annotation sets them, and an invalid value is reported and ignored', () => {
  const cases: [labels: Record<string, string>, heartbeat: string | undefined, seconds: number][] = [
    [{}, undefined, 10],
    [{ [LINK_LABEL]: 'fibre' }, undefined, 10],
    [METERED, undefined, 120],
    [METERED, '600', 600],
    [{}, '5', 5],
    [{}, '3600', 3_600],
    ...['0', '3601', '-5', '1.5', '', 'often', '1e3'].map(
      (text): [Record<string, string>, string, number] => [{}, text, 10],
    ),
  ];
  for (const [labels, heartbeat, seconds] of cases) {
    const annotations: Record<string, string> =
      heartbeat === undefined ? {} : { [HEARTBEAT_ANNOTATION]: heartbeat };
    const pace = heartbeatConfigOf({ labels, annotations });
    assert.equal(pace.heartbeatMs, seconds * 1_000, heartbeat);
    assert.equal(pace.silenceMs, seconds * 1_500);
    assert.equal(pace.compress, labels === METERED);
    const node: Node = { ...nodeObject('n'), metadata: { name: 'n', annotations } };
    assert.equal(
      nodeKind.warnings(node).length,
      heartbeat === undefined || Number(heartbeat) === seconds ? 0 : 1,
      heartbeat,
    );
  }
});

test("the grace period allows as many missed heartbeats on a slow link as on any other, and is never shorter than the fleet's", () => {
  assert.equal(scaledGraceMs(heartbeatConfigOf({}), 40_000), 40_000);
  assert.equal(scaledGraceMs(heartbeatConfigOf({ labels: METERED }), 40_000), 480_000);
  assert.equal(
    scaledGraceMs(heartbeatConfigOf({ annotations: { [HEARTBEAT_ANNOTATION]: '1' } }), 40_000),
    40_000,
  );
});

function events(count: number): EventsReport {
  const time = '2026-01-01T00:00:00Z';
  const item = {
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p', uid: 'u' },
    ...{
      type: 'Normal' as const,
      reason: 'Pulled',
      message: 'Container image "nginx" already present on machine',
    },
    ...{ count: 1, firstTimestamp: time, lastTimestamp: time },
  };
  return { kind: 'events', items: Array.from({ length: count }, () => item) };
}

test('a compressed frame decodes to the same message, a small one is not compressed', () => {
  const message = events(5);
  const plain = encodeMessage(message);
  const small = encodeMessage(message, { compress: true });
  assert.ok(small.length * 3 < plain.length, `${small.length} of ${plain.length}`);
  assert.deepEqual(decodeFromAgent(small), message);
  const applied = { kind: 'applied', id: 1 } as const;
  assert.deepEqual(encodeMessage(applied, { compress: true }), encodeMessage(applied));
  assert.deepEqual(decodeFromAgent(encodeMessage(events(1_000), { compress: true })), events(1_000));
});

test('a decompression bomb is rejected, and so is an invalid compressed frame', async () => {
  const { deflateRawSync } = await import('node:zlib');
  const frames = [
    Buffer.concat([Buffer.of(0xc1), deflateRawSync(Buffer.alloc(MAX_FRAME_BYTES))]),
    Buffer.concat([Buffer.of(0xc1), deflateRawSync(Buffer.alloc(200_000))]),
    Buffer.of(0xc1),
    Buffer.of(0xc1, 1, 2, 3),
  ];
  for (const frame of frames) assert.throws(() => decodeFromAgent(frame), ProtocolError);
});
