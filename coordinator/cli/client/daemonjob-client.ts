/** API calls of the job commands. */
import {
  DAEMON_JOB_LABEL,
  type DaemonJob,
  type DaemonJobResult,
  type DaemonJobSpec,
  daemonJobFinishedAs,
  runOf,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { DaemonJobHosts, JobHost } from '../../../shared/kube/fleet/daemonjob-host-types.js';
import { controllerOf, FLEET_GROUP, type ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { type ApiClient, connect } from './api-client.js';
import type { KubeconfigOptions } from './kubeconfig-choice.js';

const PAGE = 500;

/** Selects the coordinator and the namespace. */
export interface DaemonJobOptions extends KubeconfigOptions {
  namespace?: string;
}

export class DaemonJobClient {
  readonly #api: ApiClient;
  readonly #path: string;

  /** Throws ExitError. */
  constructor({ namespace, ...options }: DaemonJobOptions) {
    this.#api = connect(options);
    const ns = encodeURIComponent(namespace ?? this.#api.namespace);
    this.#path = `/apis/${FLEET_GROUP}/v1/namespaces/${ns}`;
  }

  create(metadata: Partial<ObjectMeta>, spec: DaemonJobSpec): Promise<DaemonJob> {
    const body = { apiVersion: `${FLEET_GROUP}/v1`, kind: 'DaemonJob', metadata, spec };
    return this.#api.request<DaemonJob>('POST', `${this.#path}/daemonjobs`, body);
  }

  get(name: string): Promise<DaemonJob> {
    return this.#api.request<DaemonJob>('GET', this.#jobPath(name));
  }

  /** Returns the results of the job, sorted by node. Those of a deleted job of the same name are left out. */
  async results({ metadata }: DaemonJob): Promise<DaemonJobResult[]> {
    const found: DaemonJobResult[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const query = new URLSearchParams({
        labelSelector: `${DAEMON_JOB_LABEL}=${metadata.name}`,
        limit: String(PAGE),
        ...(after && { continue: after }),
      });
      const page: { items: DaemonJobResult[]; metadata: { continue?: string } } = await this.#api.request(
        'GET',
        `${this.#path}/daemonjobresults?${query}`,
      );
      found.push(...page.items.filter((result) => controllerOf(result.metadata)?.uid === metadata.uid));
      after = page.metadata.continue || undefined;
    }
    return found.sort((a, b) => (a.nodeName < b.nodeName ? -1 : 1));
  }

  /** Returns one page of the hosts of the job, also of those without a result. */
  hosts(name: string, query: Readonly<Record<string, string>>): Promise<DaemonJobHosts> {
    return this.#api.request('GET', `${this.#jobPath(name)}/hosts?${new URLSearchParams(query)}`);
  }

  /** Returns the hosts that have not started and have reported why, sorted by node. */
  async waitingHosts(name: string): Promise<JobHost[]> {
    const found: JobHost[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const query = { state: 'Waiting', limit: String(PAGE), ...(after && { continue: after }) };
      const page: DaemonJobHosts = await this.hosts(name, query);
      found.push(
        ...page.hosts.filter(({ reason, attempts }) => reason !== undefined && attempts === undefined),
      );
      after = page.continue;
    }
    return found;
  }

  /** Starts the next run on hosts that failed or were missed. `until` replaces the job's. Throws ExitError. */
  async rerun(name: string, until: string | undefined): Promise<DaemonJob> {
    const job = await this.get(name);
    if (!daemonJobFinishedAs(job))
      throw new ExitError(
        EXIT_CODES.refused,
        `DaemonJob ${name} has not finished. Only a finished job can run again.`,
      );
    const { resourceVersion } = job.metadata;
    const last = until ?? job.spec.until;
    if (last !== undefined && Date.parse(last) <= Date.now())
      throw new ExitError(
        EXIT_CODES.usage,
        `Hosts could start until ${last}. Pass --until DURATION, for example --until 2h.`,
      );
    const spec = { run: runOf(job) + 1, ...(until !== undefined && { until }) };
    return this.#api.request<DaemonJob>('PATCH', this.#jobPath(name), {
      metadata: { resourceVersion },
      spec,
    });
  }

  #jobPath(name: string): string {
    return `${this.#path}/daemonjobs/${encodeURIComponent(name)}`;
  }
}
