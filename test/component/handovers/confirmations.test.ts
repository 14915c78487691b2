/** Confirmation and revert of a handover by the clock. A stalled process or a reboot must not count against a Pod. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterHandoverStart } from '../../../agent/decisions/handovers/assigned-pod-handover.js';
import { openHandoverOf, revertOf } from '../../../agent/decisions/handovers/handover-record.js';
import { type AssignedPod, afterContainersRemoved } from '../../../agent/decisions/pods/assigned-pod.js';
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import { HandoverConfirmations } from '../../../agent/handovers/handover-confirmations.js';
import type { HostHandover } from '../../../shared/kube/handovers/host-handover.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { type Clock, ManualClock } from '../../../shared/process/time/clock.js';

const CONFIRM_SECONDS = 60;

function podOf(uid: string): Pod {
  const metadata = { name: `web-${uid}`, namespace: 'shop', uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: 'n1', containers: [] } };
}

/** A process that can stall: time passes, and its timers fire late. */
class Process {
  readonly #time = new ManualClock(1_000_000);
  #stoodMs = 0;
  readonly clock: Clock = {
    now: () => this.#time.now() + this.#stoodMs,
    monotonic: () => this.#time.monotonic() + this.#stoodMs,
    after: (delayMs, action) => this.#time.after(delayMs, action),
    yieldToEventLoop: () => this.#time.yieldToEventLoop(),
  };

  async run(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      this.#time.advance(Math.min(left, 500));
      // The decision is written to disk.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  standStill(ms: number): void {
    this.#stoodMs += ms;
  }
}

/** A host that has started a handover while its link was up, in a new agent. */
async function begun() {
  const process = new Process();
  const { clock } = process;
  const cache = DesiredCache.inMemory(clock, silentLogger);
  const turn: HostHandover = { successor: podOf('new'), confirmSeconds: CONFIRM_SECONDS };
  const old: AssignedPod = {
    uid: 'old',
    digest: 'd',
    pod: podOf('old'),
    acceptedAt: 0,
    lifecycle: { kind: 'running' },
  };
  const how = { now: clock.now(), linkWasLive: true, bootMark: 'boot-1' };
  const { old: leaving, successor } = afterHandoverStart(old, turn, how);
  await cache.put(afterContainersRemoved(leaving), successor);
  let heardAt = clock.now();
  let asked = 0;
  const agent = (bootMark = 'boot-1') =>
    new HandoverConfirmations({
      cache,
      bootMark,
      engineUpSince: () => 0,
      onChanged: () => undefined,
      onRevert: () => undefined,
      clock,
      log: silentLogger,
    });
  const outcome = () => {
    const successor = cache.get('new') ?? {};
    const isOpen = openHandoverOf(successor)?.stage === 'confirming';
    return revertOf(successor)?.reason ?? (isOpen ? 'open' : 'confirmed');
  };
  const hear = () => {
    heardAt = clock.now();
  };
  const hub = {
    silentMs: () => clock.now() - heardAt,
    ping: () => {
      asked += 1;
    },
  };
  return { process, cache, agent, outcome, hear, hub, asked: () => asked };
}

test('a host that stalls after its request still gives the answer its full time', async () => {
  const { process, agent, outcome, hear, hub, asked } = await begun();
  const confirmations = agent();
  confirmations.onLinkUp(hub);
  confirmations.onReadiness('new', true);
  await process.run(CONFIRM_SECONDS * 1000 + 500);
  assert.ok(asked() > 0);
  process.standStill(120_000);
  await process.run(1_500);
  assert.equal(outcome(), 'open', 'the answer may lie there unread');
  hear();
  await process.run(2_000);
  assert.equal(outcome(), 'confirmed');
  confirmations.stop();
});

test('a host reverts when no answer arrives in its running time', async () => {
  const { process, agent, outcome, hub } = await begun();
  const confirmations = agent();
  confirmations.onLinkUp(hub);
  confirmations.onReadiness('new', true);
  await process.run(CONFIRM_SECONDS * 1000 + 500);
  process.standStill(120_000);
  await process.run(12_000);
  assert.equal(outcome(), 'LinkLost');
  confirmations.stop();
});

test('a Pod has its full time to become ready, however long the process stalled', async () => {
  const { process, agent, outcome, hear, hub } = await begun();
  const confirmations = agent();
  confirmations.onLinkUp(hub);
  for (let second = 0; second < CONFIRM_SECONDS - 12; second += 12) {
    await process.run(12_000);
    process.standStill(300_000);
  }
  assert.equal(outcome(), 'open');
  confirmations.onReadiness('new', true);
  for (let second = 0; second < CONFIRM_SECONDS; second += 1) {
    hear();
    await process.run(1_000);
  }
  assert.equal(outcome(), 'confirmed');
  confirmations.stop();
});

test('a host that reboots repeatedly reverts before starting the Pod again, and a power cut does not count', async () => {
  const { process, agent, outcome } = await begun();
  for (const [mark, expected] of [
    ['boot-2', 'open'],
    ['boot-3', 'open'],
    ['boot-4', 'HostRebooted'],
  ] as const) {
    const confirmations = agent(mark);
    await confirmations.recordBoot();
    assert.equal(outcome(), expected, mark);
    confirmations.start();
    await process.run(20_000);
    confirmations.stop();
  }
});

test('a Pod has its time to become ready from the end of its predecessor', async () => {
  const { process, cache, agent, outcome, hub } = await begun();
  const leaving = cache.get('old');
  assert.ok(leaving);
  assert.ok(leaving.lifecycle.kind === 'handedOver');
  await cache.put({ ...leaving, lifecycle: { ...leaving.lifecycle, containersRemoved: false } });
  const confirmations = agent();
  confirmations.onLinkUp(hub);
  confirmations.start();
  await process.run(3 * CONFIRM_SECONDS * 1000);
  assert.equal(outcome(), 'open', 'it could not begin');
  const successor = cache.get('new');
  assert.ok(successor);
  await cache.put(afterContainersRemoved(leaving), { ...successor, startableAt: process.clock.now() });
  await process.run(CONFIRM_SECONDS * 1000 - 1_000);
  assert.equal(outcome(), 'open');
  await process.run(2_000);
  assert.equal(outcome(), 'NotReady');
  confirmations.stop();
});
