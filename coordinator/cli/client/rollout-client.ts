/** API calls of the rollout commands for one DaemonSet. */

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

const PREFIXES = ['ds', 'daemonset', 'daemonsets', 'daemonset.apps', 'daemonsets.apps', 'rollout', 'ro'];

/** Selects the coordinator and the namespace. */
export interface RolloutOptions extends KubeconfigOptions {
  namespace?: string;
}

export class RolloutClient {
  readonly name: string;
  readonly #api: ApiClient;
  readonly #namespace: string;

  /** `target`: `ds/NAME`, `rollout/NAME` or `NAME`. Throws ExitError. */
  constructor(target: string, { namespace, ...options }: RolloutOptions) {
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

  /** Requests an action of the rollout as the kubeconfig's user. */
  async steer(verb: SteeringVerb, value: string, reason: string | undefined): Promise<void> {
    const annotations = {
      [steeringAnnotation(verb)]: value,
      ...(reason === undefined ? {} : { [REASON_ANNOTATION]: reason }),
    };
    await this.#api.request('PATCH', this.#path(this.name), { metadata: { annotations } });
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
  if (name && PREFIXES.includes(prefix) && rest.length === 0) return name;
  throw new ExitError(EXIT_CODES.usage, `"${target}" is not of the form ds/NAME.`);
}
