/** Heartbeats of a connection, on a clock that the test advances. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../../agent/link/heartbeats.js';
import { decodeHeartbeatReading } from '../../../shared/link/heartbeat-reading.js';
import { HEARTBEAT_INTERVAL_MS } from '../../../shared/link/messages/link-messages.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

function beating() {
  const clock = new ManualClock();
  const sent: { at: number; payload: Uint8Array | undefined }[] = [];
  const socket = { isOpen: true };
  const heartbeats = new Heartbeats(
    (payload) => {
      if (socket.isOpen) sent.push({ at: clock.now(), payload });
      return socket.isOpen;
    },
    () => ({ cpu: 0.5 }),
    clock,
  );
  return { clock, sent, socket, heartbeats, times: () => sent.map(({ at }) => at) };
}

test('the first heartbeat follows one interval after the start, the next ones at the same interval, until the end', () => {
  const { clock, heartbeats, times } = beating();
  heartbeats.start();
  clock.advance(HEARTBEAT_INTERVAL_MS * 2);
  assert.deepEqual(times(), [HEARTBEAT_INTERVAL_MS, HEARTBEAT_INTERVAL_MS * 2]);
  heartbeats.stop();
  clock.advance(HEARTBEAT_INTERVAL_MS * 2);
  assert.equal(times().length, 2);
});

test('another interval counts from the next heartbeat, or immediately when heartbeats are restarted', () => {
  const { clock, heartbeats, times } = beating();
  heartbeats.start();
  heartbeats.setIntervalMs(1_000);
  clock.advance(HEARTBEAT_INTERVAL_MS + 1_000);
  assert.deepEqual(times(), [HEARTBEAT_INTERVAL_MS, HEARTBEAT_INTERVAL_MS + 1_000]);
  heartbeats.setIntervalMs(3_000);
  heartbeats.start();
  clock.advance(3_000);
  assert.deepEqual(times().slice(2), [HEARTBEAT_INTERVAL_MS + 4_000]);
});

test('every fifth heartbeat carries the host load, the first one included; an extra heartbeat carries none', () => {
  const { clock, sent, heartbeats } = beating();
  heartbeats.start();
  heartbeats.send();
  clock.advance(HEARTBEAT_INTERVAL_MS * 6);
  const readings = sent.map(({ payload }) => payload && decodeHeartbeatReading(payload));
  const told = { cpu: 0.5 };
  const nothing = undefined;
  assert.deepEqual(readings, [nothing, told, nothing, nothing, nothing, nothing, told]);
});

test('the round trip is measured from the oldest unanswered heartbeat', () => {
  const { clock, socket, heartbeats } = beating();
  socket.isOpen = false;
  heartbeats.send();
  heartbeats.onPong();
  assert.equal(heartbeats.roundTripMs, undefined, 'what was not sent has no answer');
  socket.isOpen = true;
  heartbeats.send();
  clock.advance(30);
  heartbeats.send();
  clock.advance(10);
  heartbeats.onPong();
  assert.equal(heartbeats.roundTripMs, 40);
  clock.advance(5);
  heartbeats.onPong();
  assert.equal(heartbeats.roundTripMs, 40, 'an answer to nothing');
});
