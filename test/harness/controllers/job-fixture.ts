/** The Job and CronJob controllers over a memory store, with a simulated agent, and kills at any write. */
import { CronJobController } from '../../../coordinator/controllers/jobs/cronjob-controller.js';
import { JobController } from '../../../coordinator/controllers/jobs/job-controller.js';
import type { RecordEvent } from '../../../coordinator/decisions/events/event-occurrence.js';
import { cronJobKind, jobKind, podKind } from '../../../coordinator/kinds/index.js';
import type { CronJob, Job, JobSpec } from '../../../shared/kube/jobs/job-types.js';
import { isPodTerminal, type Pod, type PodPhase } from '../../../shared/kube/pods/pod-types.js';
import { type ControlPlane, startControlPlane } from './control-plane-fixture.js';
import { type Kill, WriteKills } from './write-kills.js';

const NAMESPACE = 'default';

export class JobFixture {
  /** `reason message` of every Event. */
  readonly events: string[] = [];
  readonly plane: ControlPlane;
  /** Names of all Pods that were ever created. */
  readonly created = new Set<string>();
  /** Phase in which the n-th Pod ends, from 0. Undefined: it keeps running. */
  readonly #ends: (nth: number) => PodPhase | undefined;
  #controllers: { stop(): Promise<void> }[] = [];
  readonly #kills: WriteKills;

  static async start(ends: (nth: number) => PodPhase | undefined, kill?: Kill): Promise<JobFixture> {
    const fixture = new JobFixture(await startControlPlane(), ends, kill);
    fixture.startControllers();
    return fixture;
  }

  private constructor(
    plane: ControlPlane,
    ends: (nth: number) => PodPhase | undefined,
    kill: Kill | undefined,
  ) {
    this.plane = plane;
    this.#ends = ends;
    this.#kills = new WriteKills(kill);
  }

  /** True once the planned kill has happened. */
  get isKilled(): boolean {
    return this.#kills.kills > 0;
  }

  startControllers(): void {
    const recordEvent: RecordEvent = (_about, _type, reason, message) => {
      this.events.push(`${reason} ${message}`);
    };
    const deps = { ...this.plane, registry: this.#kills.wrap(this.plane.registry), recordEvent };
    this.#controllers = [new JobController(deps), new CronJobController(deps)];
  }

  async restartControllers(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
    await this.plane.settle();
    this.startControllers();
  }

  async createJob(name: string, spec: Partial<JobSpec>): Promise<void> {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] } };
    await this.plane.registry.create(jobKind, NAMESPACE, { metadata: { name }, spec: { template, ...spec } });
  }

  async createCronJob(name: string, spec: Partial<CronJob['spec']>): Promise<void> {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] } };
    await this.plane.registry.create(cronJobKind, NAMESPACE, {
      metadata: { name },
      spec: { jobTemplate: { spec: { template } }, ...spec },
    });
  }

  job(name: string): Job | undefined {
    return this.plane.informers.jobs.get({ namespace: NAMESPACE, name });
  }

  jobs(): Job[] {
    return [...this.plane.informers.jobs.list()];
  }

  cronJob(name: string): CronJob | undefined {
    return this.plane.informers.cronJobs.get({ namespace: NAMESPACE, name });
  }

  pods(): Pod[] {
    return [...this.plane.informers.pods.list()];
  }

  /** Ends Pods as `ends` says, restarts killed controllers, and advances the clock, some rounds. */
  async run(rounds: number, stepMs = 15_000): Promise<void> {
    let restartDue = true;
    for (let round = 0; round < rounds; round += 1) {
      await this.plane.settle();
      if (this.isKilled && restartDue) {
        restartDue = false;
        await this.restartControllers();
      }
      await this.#endPods();
      await this.plane.settle();
      await this.plane.advance(stepMs);
    }
  }

  async #endPods(): Promise<void> {
    for (const pod of this.pods()) {
      const isNew = !this.created.has(pod.metadata.name);
      this.created.add(pod.metadata.name);
      const phase = this.#ends([...this.created].indexOf(pod.metadata.name));
      if (!isNew || isPodTerminal(pod) || phase === undefined) continue;
      await this.plane.registry.writeStatus(podKind, pod.metadata, ({ status }) => ({ ...status, phase }));
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
    await this.plane.stop();
  }
}
