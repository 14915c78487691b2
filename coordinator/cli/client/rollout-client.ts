/** API calls of the rollout commands for one DaemonSet, and of those that also steer a DaemonJob. */

import type { DaemonJob } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { orUndefined } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { PAST_ROLLOUT_LABEL, type Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import {
  REASON_ANNOTATION,
  type SteeringVerb,
  steeringAnnotation,
} from '../../../shared/kube/rollouts/steering-requests.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import type { RolloutHostsDocument } from '../../api/fleet/rollout-subresources.js';
import { type ApiClient, connect } from './api-client.js';
import type { KubeconfigOptions } from './kubeconfig-choice.js';

const JOB_PREFIXES = ['dj', 'daemonjob', 'daemonjobs'];
const PREFIXES = ['ds', 'daemonset', 'daemonsets', 'daemonset.apps', 'daemonsets.apps', 'rollout', 'ro'];

/** Selects the coordinator and the namespace. */
export interface RolloutOptions extends KubeconfigOptions {
  namespace?: string;
}

/** Verbs that are also annotations of a DaemonJob. */
const JOB_VERBS: ReadonlySet<SteeringVerb> = new Set(['approve', 'promote', 'override-locks']);

export class RolloutClient {
  readonly name: string;
  /** True if the target is a DaemonJob, which has no Rollout. */
  readonly isJob: boolean;
  readonly #api: ApiClient;
  readonly #namespace: string;

  /** `target`: `ds/NAME`, `rollout/NAME`, `NAME`, or `dj/NAME` for a DaemonJob. Throws ExitError. */
  constructor(target: string, { namespace, ...options }: RolloutOptions) {
    this.isJob = JOB_PREFIXES.includes(target.split('/')[0] ?? '') && target.includes('/');
    this.name = nameIn(target);
    this.#api = connect(options);
    this.#namespace = namespace ?? this.#api.namespace;
  }

  /**
   * `rollout` is undefined if no policy governs the DaemonSet, or if it has not been reconciled yet. Throws ExitError
   * if there is no such DaemonSet.
   */
  async present(): Promise<{ daemonSet: DaemonSet; rollout: Rollout | undefined }> {
    const ns = encodeURIComponent(this.#namespace);
    const daemonSets = `/apis/apps/v1/namespaces/${ns}/daemonsets`;
    const daemonSet = await this.#api.request<DaemonSet>(
      'GET',
      `${daemonSets}/${encodeURIComponent(this.name)}`,
    );
    return { daemonSet, rollout: await this.#rollout() };
  }

  async past(): Promise<Rollout[]> {
    const selector = encodeURIComponent(`${PAST_ROLLOUT_LABEL}=${this.name}`);
    const { items } = await this.#api.request<{ items: Rollout[] }>(
      'GET',
      `${this.#path()}?labelSelector=${selector}`,
    );
    const startOf = ({ status }: Rollout) => status?.startTime ?? '';
    return items.sort((a, b) => (startOf(a) < startOf(b) ? -1 : 1));
  }

  async *hosts(query: Readonly<Record<string, string>>): AsyncGenerator<RolloutHostsDocument> {
    let after: string | undefined;
    do {
      const text = new URLSearchParams({ ...query, ...(after ? { continue: after } : {}) }).toString();
      const page = await this.#api.request<RolloutHostsDocument>(
        'GET',
        `${this.#path(this.name)}/hosts?${text}`,
      );
      yield page;
      after = page.continue;
    } while (after !== undefined);
  }

  /** Requests an action of the rollout as the kubeconfig's user. Throws ExitError. */
  async steer(verb: SteeringVerb, value: string, reason: string | undefined): Promise<void> {
    if (this.isJob) return this.#steerJob(verb, value, reason);
    const annotations = {
      [steeringAnnotation(verb)]: value,
      ...(reason === undefined ? {} : { [REASON_ANNOTATION]: reason }),
    };
    await this.#api.request('PATCH', this.#path(this.name), { metadata: { annotations } });
  }

  /** A job keeps what it was asked for, so names are added to those that are listed. */
  async #steerJob(verb: SteeringVerb, value: string, reason: string | undefined): Promise<void> {
    if (!JOB_VERBS.has(verb))
      throw new ExitError(EXIT_CODES.usage, `A DaemonJob accepts ${[...JOB_VERBS].join(', ')} only.`);
    const ns = encodeURIComponent(this.#namespace);
    const path = `/apis/${FLEET_GROUP}/v1/namespaces/${ns}/daemonjobs/${encodeURIComponent(this.name)}`;
    const { metadata } = await this.#api.request<DaemonJob>('GET', path);
    const key = steeringAnnotation(verb);
    const names = new Set([...(metadata.annotations?.[key] ?? '').split(','), ...value.split(',')]);
    names.delete('');
    const annotations = {
      [key]: [...names].join(','),
      ...(reason === undefined ? {} : { [REASON_ANNOTATION]: reason }),
    };
    const { resourceVersion } = metadata;
    await this.#api.request('PATCH', path, { metadata: { resourceVersion, annotations } });
  }

  async #rollout(): Promise<Rollout | undefined> {
    return orUndefined(() => this.#api.request<Rollout>('GET', this.#path(this.name)));
  }

  #path(name?: string): string {
    const rollouts = `/apis/${FLEET_GROUP}/v1/namespaces/${encodeURIComponent(this.#namespace)}/rollouts`;
    return name === undefined ? rollouts : `${rollouts}/${encodeURIComponent(name)}`;
  }
}

function nameIn(target: string): string {
  const [prefix = '', name, ...rest] = target.split('/');
  if (name === undefined && prefix) return prefix;
  if (name && [...PREFIXES, ...JOB_PREFIXES].includes(prefix) && rest.length === 0) return name;
  throw new ExitError(EXIT_CODES.usage, `"${target}" is not of the form ds/NAME.`);
}
