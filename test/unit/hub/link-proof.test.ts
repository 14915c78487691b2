/** The proof of a key as the first frame of a link. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { WebSocket } from 'ws';
import { awaitProof } from '../../../coordinator/hub/identity/link-proof.js';
import { signChallenge } from '../../../shared/link/key-proof.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

test('a proven link keeps no listener, which would keep the key in memory', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const challenge = { clusterUID: 'c', node: 'n1', nonce: 'x' };
  const socket = new EventEmitter();
  const proven: number[] = [];
  awaitProof(socket as WebSocket, { key: publicKey, ...challenge }, new ManualClock(0), {
    proven: () => proven.push(1),
    refused: () => assert.fail('refused'),
  });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  socket.emit('message', signChallenge(key, challenge));
  assert.deepEqual(proven, [1]);
  assert.deepEqual(socket.eventNames(), []);
});
