/** The DaemonJob controller and the scheduler's part over a memory store, with simulated hosts and kills at any write. */
import { CronDaemonJobController } from '../../../coordinator/controllers/daemonjobs/cron-daemonjob-controller.js';
import { DaemonJobController } from '../../../coordinator/controllers/daemonjobs/daemonjob-controller.js';
import type { RecordEvent } from '../../../coordinator/decisions/events/event-occurrence.js';
import { cronDaemonJobKind, daemonJobKind, nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import type {
  CronDaemonJob,
  CronDaemonJobSpec,
} from '../../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import { startRulesOf } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  type DaemonJob,
  type DaemonJobResult,
  type DaemonJobSpec,
  daemonJobFinishedAs,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';

import { isPodTerminal, type Pod, type PodPhase, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { type ControlPlane, joinNode, setReady, startControlPlane } from './control-plane-fixture.js';
import { type Kill, WriteKills } from './write-kills.js';

const NAMESPACE = 'default';
const NAME = 'work';

/** How a Pod ends on its host. Undefined: it keeps running. */
type Ending = (nodeName: string, attempt: number) => PodPhase | undefined;

export class DaemonJobFixture {
  readonly plane: ControlPlane;
  readonly kills: WriteKills;
  /** `reason message` of every Event. */
  readonly events: string[] = [];
  /** Uids of all Pods that were ever created, by host. */
  readonly created = new Map<string, Set<string>>();
  /** Hosts on which a Pod succeeded, and how often. */
  readonly successes = new Map<string, number>();
  readonly #ending: Ending;
  readonly #offline = new Set<string>();
  #controllers: { stop(): Promise<void>; onClockStep(): void }[] = [];

  static async start(hosts: number, ending: Ending, kill?: Kill): Promise<DaemonJobFixture> {
    const fixture = new DaemonJobFixture(await startControlPlane(), ending, kill);
    for (let at = 1; at <= hosts; at += 1) await joinNode(fixture.plane, `node-${at}`);
    fixture.startController();
    return fixture;
  }

  private constructor(plane: ControlPlane, ending: Ending, kill: Kill | undefined) {
    this.plane = plane;
    this.#ending = ending;
    this.kills = new WriteKills(kill);
  }

  startController(): void {
    const recordEvent: RecordEvent = (_about, _type, reason, message) => {
      this.events.push(`${reason} ${message}`);
    };
    const registry = this.kills.wrap(this.plane.registry);
    const deps = { ...this.plane, registry, recordEvent };
    this.#controllers = [new DaemonJobController(deps), new CronDaemonJobController(deps)];
  }

  async restartController(): Promise<void> {
    await this.#stopControllers();
    await this.plane.settle();
    this.startController();
  }

  async createJob(spec: Partial<DaemonJobSpec> = {}): Promise<void> {
    const template = { spec: { containers: [{ name: 'work', image: 'work:1' }] } };
    const body = { metadata: { name: NAME }, spec: { template, ...spec } };
    await this.plane.registry.create(daemonJobKind, NAMESPACE, body);
    await this.plane.settle();
  }

  async changeJob(spec: Partial<DaemonJobSpec>): Promise<void> {
    await this.plane.registry.modify(daemonJobKind, { namespace: NAMESPACE, name: NAME }, (job) => {
      Object.assign(job.spec, spec);
    });
    await this.plane.settle();
  }

  async #stopControllers(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
  }

  /** Steps the wall clock, as the coordinator notices it. */
  async stepWallClock(byMs: number): Promise<void> {
    this.plane.clock.stepWallClock(byMs);
    for (const controller of this.#controllers) controller.onClockStep();
    await this.plane.settle();
  }

  async createCron(spec: Partial<CronDaemonJobSpec>): Promise<void> {
    const template = { spec: { containers: [{ name: 'work', image: 'work:1' }] } };
    const body = { metadata: { name: NAME }, spec: { jobTemplate: { spec: { template } }, ...spec } };
    await this.plane.registry.create(cronDaemonJobKind, NAMESPACE, body);
    await this.plane.settle();
  }

  async changeCron(spec: Partial<CronDaemonJobSpec>): Promise<void> {
    await this.plane.registry.modify(cronDaemonJobKind, { namespace: NAMESPACE, name: NAME }, (cron) => {
      Object.assign(cron.spec, spec);
    });
    await this.plane.settle();
  }

  cron(): CronDaemonJob | undefined {
    return this.plane.informers.cronDaemonJobs.get({ namespace: NAMESPACE, name: NAME });
  }

  /** Returns all DaemonJobs, by name. */
  jobs(): DaemonJob[] {
    return [...this.plane.informers.daemonJobs.list()].sort((a, b) =>
      a.metadata.name < b.metadata.name ? -1 : 1,
    );
  }

  async setTimeZone(nodeName: string, zone: string): Promise<void> {
    await this.plane.registry.modify(nodeKind, { name: nodeName }, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, 'fleet.everynode.dev/time-zone': zone.replaceAll('/', '.') };
    });
    await this.plane.settle();
  }

  job(): DaemonJob | undefined {
    return this.plane.informers.daemonJobs.get({ namespace: NAMESPACE, name: NAME });
  }

  pods(): Pod[] {
    return [...this.plane.informers.pods.list()];
  }

  results(): DaemonJobResult[] {
    return [...this.plane.informers.daemonJobResults.list()];
  }

  /** Returns `NODE=PHASE` of all results, sorted. */
  phases(): string[] {
    return this.results()
      .map(({ nodeName, phase }) => `${nodeName}=${phase}`)
      .sort();
  }

  async setOffline(nodeName: string, isOffline: boolean): Promise<void> {
    if (isOffline) this.#offline.add(nodeName);
    else this.#offline.delete(nodeName);
    // The node lifecycle controller taints unreachable nodes.
    await this.plane.registry.modify(nodeKind, { name: nodeName }, (node) => {
      const taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' as const };
      node.spec = { ...node.spec, taints: isOffline ? [taint] : [] };
    });
    await setReady(this.plane, nodeName, isOffline ? 'Unknown' : 'True');
  }

  /** Lets hosts act, restarts a killed controller, and advances the clock, some rounds. */
  async run(rounds: number, stepMs = 15_000): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      await this.plane.settle();
      if (this.kills.kills > 0) {
        this.kills.kills = 0;
        await this.restartController();
      }
      await this.#actOnHosts();
      await this.plane.settle();
      await this.plane.advance(stepMs);
    }
  }

  /** Runs rounds until the job has finished and its Pods are counted. Returns true if the controller was killed. */
  async runUntilFinished(rounds: number): Promise<boolean> {
    let hadKill = false;
    for (let round = 0; round < rounds; round += 1) {
      await this.plane.settle();
      hadKill ||= this.kills.kills > 0;
      const job = this.job();
      const isOver = job !== undefined && daemonJobFinishedAs(job) !== undefined && this.kills.kills === 0;
      if (isOver && this.pods().every(({ metadata }) => !metadata.finalizers)) break;
      await this.run(1);
    }
    return hadKill;
  }

  /** Ends Pods like agents, and confirms deletions. */
  async #actOnHosts(): Promise<void> {
    for (const pod of this.pods()) {
      const nodeName = targetNodeOf(pod) ?? '';
      const uids = this.created.get(nodeName) ?? new Set();
      this.created.set(nodeName, uids.add(pod.metadata.uid ?? ''));
      if (this.#offline.has(nodeName)) continue;
      const attempt = Number(pod.metadata.name.split('.').at(-1));
      const waits = Date.parse(startRulesOf(pod)?.at ?? '') > this.plane.clock.now();
      if (waits && !pod.metadata.deletionTimestamp) continue;
      const ending = this.#ending(nodeName, attempt);
      const phase = waits ? undefined : pod.metadata.deletionTimestamp ? 'Failed' : ending;
      if (phase && !isPodTerminal(pod)) await this.#end(pod, nodeName, phase);
      if (pod.metadata.deletionTimestamp)
        await this.plane.registry.confirmStopped(pod.metadata, pod.metadata.uid ?? '');
    }
  }

  async #end(pod: Pod, nodeName: string, phase: PodPhase): Promise<void> {
    if (phase === 'Succeeded') this.successes.set(nodeName, (this.successes.get(nodeName) ?? 0) + 1);
    const terminated = {
      exitCode: phase === 'Succeeded' ? 0 : 3,
      startedAt: '2026-01-01T00:00:00Z',
      finishedAt: new Date(this.plane.clock.now()).toISOString(),
      message: `output of ${nodeName}\n`,
    };
    const containerStatuses = [
      { name: 'work', image: 'work:1', imageID: '', ready: false, restartCount: 0, state: { terminated } },
    ];
    await this.plane.registry.writeStatus(podKind, pod.metadata, ({ status }) => ({
      ...status,
      phase,
      containerStatuses: phase === 'Running' ? [] : containerStatuses,
    }));
  }

  /** Returns `hosts active succeeded failed missed offline waiting`. */
  counts(): (number | undefined)[] {
    const { hosts, active, succeeded, failed, missed, offline, waiting } = this.job()?.status ?? {};
    return [hosts, active, succeeded, failed, missed, offline, waiting];
  }

  async stop(): Promise<void> {
    await this.#stopControllers();
    await this.plane.stop();
  }
}
