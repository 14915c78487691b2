/**
 * A rollout by waves over simulated hosts. The controller's real code makes each decision, and the fixture checks it
 * before applying it.
 */
import assert from 'node:assert/strict';
import { DaemonSetTally } from '../../../coordinator/controllers/daemonsets/daemonset-tally.js';
import {
  buildWaveIndex,
  decideRollout,
  type RolloutDecision,
} from '../../../coordinator/controllers/rollouts/rollout-decision.js';
import type { WaveIndex } from '../../../coordinator/controllers/rollouts/wave-index.js';
import type { DaemonPod } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import { recordNode } from '../../../coordinator/decisions/daemonsets/node-record.js';
import type { NodeContact } from '../../../coordinator/decisions/nodes/node-contact.js';
import { measurePodTimings } from '../../../coordinator/decisions/rollouts/pod-timings.js';
import { statusOf } from '../../../coordinator/decisions/rollouts/rollout-status.js';
import { nodeRank, scaledAmount } from '../../../coordinator/decisions/rollouts/wave-plan.js';
import { compileMaintenanceSchedules } from '../../../shared/calendar/maintenance-schedule.js';
import type { IntOrString } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { RolloutPolicy, RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import type { SteeringVerb } from '../../../shared/kube/rollouts/steering-requests.js';
import { runToEnd } from '../basics/test-clocks.js';
import { daemonSet } from '../objects/daemon-builders.js';

/** A simulated host. */
export interface RolloutHost {
  name: string;
  labels: Record<string, string>;
  contact: NodeContact;
  pod?: DaemonPod;
  /** Hash of the last release that fails on this host. */
  breaks?: string;
}

/** Default limit of unavailable Pods per wave. */
const MAX_UNAVAILABLE = 2;
const TYPE = { apiVersion: 'fleet.everynode.dev/v1' };

export class SimulatedRollout {
  readonly hosts = new Map<string, RolloutHost>();
  now = Date.parse('2026-01-05T12:00:00Z');
  /** Hosts on which the current release was ever started. */
  readonly observedHosts = new Set<string>();
  rollout: Rollout;
  #hash = 'r1';
  #previous: string | undefined;
  #policy: RolloutPolicy;
  #tally: DaemonSetTally;
  #waves: WaveIndex;
  #decision: RolloutDecision | undefined;
  #made = 0;
  #requests = 0;

  /** Starts with the first release on all hosts. */
  constructor(hosts: readonly RolloutHost[], spec: Omit<RolloutPolicySpec, 'selector'>) {
    this.rollout = { ...TYPE, kind: 'Rollout', metadata: { name: 'web' } };
    this.#policy = {
      ...TYPE,
      kind: 'RolloutPolicy',
      metadata: { name: 'p', uid: 'p' },
      spec: { selector: {}, ...spec },
    };
    for (const host of hosts) this.hosts.set(host.name, { ...host, pod: this.#pod('r1', true) });
    [this.#tally, this.#waves] = this.#begin();
    this.step();
  }

  get phase(): string | undefined {
    return this.rollout.status?.phase;
  }

  /** Returns the hashes on all connected hosts. */
  get inReach(): (string | undefined)[] {
    return [...this.hosts.values()].filter(({ contact }) => contact === 'here').map(({ pod }) => pod?.hash);
  }

  release(hash: string): void {
    this.#previous = this.#hash;
    this.#hash = hash;
    this.observedHosts.clear();
    this.restart();
  }

  /** Drops everything that the coordinator keeps in memory. */
  restart(): void {
    [this.#tally, this.#waves] = this.#begin();
    this.step();
  }

  changePolicy(change: Partial<RolloutPolicySpec>): void {
    this.#policy = { ...this.#policy, spec: { ...this.#policy.spec, ...change } };
    this.restart();
  }

  /** Adds a steering request, as admission creates it from an annotation. */
  steer(verb: SteeringVerb, targets?: string[]): void {
    this.#requests += 1;
    const { revision } = this.rollout.status ?? {};
    const request = {
      ...{ id: this.#requests, verb, user: 'ann', time: new Date(this.now).toISOString(), reason: 'a test' },
      ...(targets ? { targets } : {}),
      ...(revision === undefined ? {} : { revision }),
    };
    this.rollout = { ...this.rollout, spec: { requests: [...(this.rollout.spec?.requests ?? []), request] } };
    this.step();
  }

  setContact(name: string, contact: NodeContact): void {
    const host = this.hosts.get(name);
    if (!host) return;
    host.contact = contact;
    this.#waves.updateConnectivity(name);
    this.step();
  }

  /** Makes the current release fail on a host. */
  breakPod(name: string): void {
    const host = this.hosts.get(name);
    if (!host?.pod?.hash) return;
    host.breaks = host.pod.hash;
    host.pod = { ...host.pod, ready: false };
    this.#look(host);
    this.step();
  }

  advance(ms: number): void {
    this.now += ms;
    this.step();
  }

  /** Starts the assigned Pods on connected hosts, and creates missing Pods. */
  stepHosts(): void {
    for (const host of this.hosts.values()) {
      const { pod, contact, name } = host;
      if (!pod && !this.#decision?.isFrozen(name)) host.pod = this.#pod(this.#hashFor(name), false);
      else if (pod && contact === 'here' && !pod.ready) {
        const isBroken = pod.hash === host.breaks;
        host.pod = isBroken
          ? { ...pod, failureReason: 'CrashLoopBackOff' }
          : { ...pod, ready: true, readySince: this.now };
      }
      if (host.pod?.hash === this.#hash) this.observedHosts.add(name);
      this.#look(host);
    }
    this.step();
  }

  /** Makes one decision, checks it against the rules, stores it and applies it. */
  step(): void {
    const decision = this.#decide();
    assert.deepEqual(summaryOf(this.#decide()), summaryOf(decision), 'the same again says the same');
    const { verdict, counts, progress, nextWindowAt } = decision;
    const status = statusOf(this.#policy, verdict, counts, progress, nextWindowAt);
    this.rollout = { ...this.rollout, status: JSON.parse(JSON.stringify(status)) };
    this.#decision = decision;
    const { create, replace, revert = [] } = decision.actions;
    assert.deepEqual(create, [], 'nothing surges here');
    const stopped = [...new Set([...replace, ...revert])];
    this.#check(stopped);
    for (const name of stopped) this.#stop(name);
  }

  #check(stopped: readonly string[]): void {
    const isAvailable = (name: string) => this.hosts.get(name)?.pod?.ready === true;
    const torn = stopped.filter(isAvailable);
    const { phase } = this.rollout.status ?? {};
    if (phase === 'Paused' || phase === 'Frozen')
      assert.deepEqual(stopped, [], `nothing is stopped: ${phase}`);
    const classOf = compileMaintenanceSchedules(this.#policy.spec);
    const { overridden = [] } = this.rollout.status?.steering ?? {};
    for (const name of torn) {
      const hours = classOf(this.hosts.get(name)?.labels).at(this.now);
      assert.ok(
        hours.replace || overridden.includes('*') || overridden.includes(name),
        `${name} is outside its window`,
      );
    }
    for (const wave of new Set(torn.map((name) => this.#waves.waveOf(name))))
      this.#checkBudget(`wave ${wave}`, this.#limitOf(wave), (other) => other === wave, stopped);
    if (this.#decision?.verdict.revert === 'all') this.#checkSharedBudget(torn, stopped);
  }

  /** A rollback reverts all waves at once. Waves without their own budget share one. */
  #checkSharedBudget(torn: readonly string[], stopped: readonly string[]): void {
    const isShared = (wave: number) => this.#policy.spec.waves?.[wave]?.maxUnavailable === undefined;
    if (!torn.some((name) => isShared(this.#waves.waveOf(name)))) return;
    this.#checkBudget('the waves that share', MAX_UNAVAILABLE, isShared, stopped);
  }

  #limitOf(wave: number): IntOrString {
    return this.#policy.spec.waves?.[wave]?.maxUnavailable ?? MAX_UNAVAILABLE;
  }

  /** Offline, failed and skipped hosts use no budget: the failure budget or the user accounts for them. */
  #checkBudget(
    whose: string,
    limit: IntOrString,
    isTheirs: (wave: number) => boolean,
    stopped: readonly string[],
  ): void {
    const mates = [...this.hosts.values()]
      .filter(({ name }) => isTheirs(this.#waves.waveOf(name)))
      .filter(
        ({ name }) => !['deferred', 'failed', 'skipped'].includes(this.#waves.stateOf(name)?.condition ?? ''),
      );
    const without = mates.filter(({ name, pod }) => !pod?.ready || stopped.includes(name)).length;
    const allowed = scaledAmount(limit, mates.length, Math.ceil);
    assert.ok(without <= allowed, `${whose}: ${without} without an available Pod, ${allowed} may`);
  }

  #decide(): RolloutDecision {
    return decideRollout({
      daemonSet: daemonSet('web', { updateStrategy: { rollingUpdate: { maxUnavailable: MAX_UNAVAILABLE } } }),
      ...{ policy: this.#policy, waves: this.#waves, revision: this.#hash, previous: this.#previous },
      ...{ rollout: this.rollout, fleetSize: this.hosts.size, pace: measurePodTimings([]), now: this.now },
      isKept: () => true,
    });
  }

  #hashFor(name: string): string {
    const stable = this.#decision?.verdict.memory.stable;
    return this.#decision?.isOpen(name) ? this.#hash : (stable ?? this.#hash);
  }

  #stop(name: string): void {
    const host = this.hosts.get(name);
    if (!host) return;
    delete host.pod;
    this.#look(host);
  }

  #pod(hash: string, ready: boolean): DaemonPod {
    this.#made += 1;
    return {
      ...{ name: `web-${this.#made}`, scheduled: true, createdAt: this.now, terminating: false, hash, ready },
      ...{ phase: 'Running', updated: hash === this.#hash },
      ...(ready ? { readySince: this.now } : {}),
    };
  }

  #look(host: RolloutHost): void {
    const pods = host.pod ? [{ ...host.pod, updated: host.pod.hash === this.#hash }] : [];
    const node = { name: host.name, exists: true, shouldRun: true, shouldContinueRunning: true, pods };
    this.#tally.record(host.name, recordNode(node, 0, this.now));
  }

  #begin(): [DaemonSetTally, WaveIndex] {
    const { status } = this.rollout;
    const hash = this.#hash;
    const stable =
      status?.completionTime && status.revision !== hash ? status.revision : status?.stableRevision;
    const tally = new DaemonSetTally({
      uid: 'u',
      generation: 1,
      current: { hash, templateGeneration: undefined },
    });
    this.#tally = tally;
    for (const host of this.hosts.values()) this.#look(host);
    const isOnItsWay = status?.revision === hash;
    const startedAt = isOnItsWay ? (status.retryTime ? 0 : Date.parse(status.startTime)) : undefined;
    const nodes = [...this.hosts.values()].map(({ name, labels, pod, contact }) => ({
      ...{ name, labels },
      rank: nodeRank(
        { hashes: pod?.hash ? [pod.hash] : [], newPodAt: pod?.hash === hash ? pod.createdAt : undefined },
        { hash, stable, startedAt },
        contact === 'here' ? 0 : 5,
      ),
    }));
    const standing = (name: string) => {
      const { contact = 'here', labels } = this.hosts.get(name) ?? {};
      return { contact, labels };
    };
    const { waves, order } = runToEnd(
      buildWaveIndex(this.#policy, {
        nodes,
        revision: hash,
        connectivity: standing,
        now: () => this.now,
      }),
    );
    tally.subscribe((name, situation, record) => waves.update(name, situation, record));
    for (const name of order) tally.notify(name);
    return [tally, waves];
  }
}

function summaryOf({ verdict, actions: turns }: RolloutDecision): object {
  const { phase, message, openUpTo, revert } = verdict;
  return { phase, message, openUpTo, revert, turns };
}
