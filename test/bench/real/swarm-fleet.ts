/** Docker Swarm as a measured fleet: global services through its API, without a restart delay. */
import { until } from '../../harness/basics/wait-until.js';
import type { BareEngine } from '../floors/bare-engine.js';
import type { MeasuredFleet } from './measured-fleet.js';

const SHOWN_MS = 60_000;
/** Poll interval of the manager, which sends no events about tasks. */
const POLL_MS = 20;

interface Service {
  ID: string;
  Version: { Index: number };
  Spec: ServiceSpec;
}

interface ServiceSpec {
  Name: string;
  TaskTemplate: { ContainerSpec: object; ForceUpdate?: number };
  UpdateConfig?: object;
}

interface Task {
  Status: { State: string };
  Spec: { ForceUpdate?: number };
}

interface SwarmWish {
  /** By id: Swarm would look a name up in a registry first. */
  image: string;
  command: readonly string[];
  size: number;
  labelFirst: (wanted: boolean) => Promise<void>;
}

export class SwarmFleet implements MeasuredFleet {
  readonly #manager: BareEngine;
  readonly #wish: SwarmWish;
  #version = 0;

  constructor(manager: BareEngine, wish: SwarmWish) {
    this.#manager = manager;
    this.#wish = wish;
  }

  /** Call before the first `label`. */
  async prepare(): Promise<void> {
    await this.#create('labelled', { Constraints: ['node.labels.bench==on'] });
  }

  label(wanted: boolean): Promise<void> {
    return this.#wish.labelFirst(wanted);
  }

  async deploy(): Promise<void> {
    this.#version = 0;
    await this.#create('deployed');
  }

  async untilAllShown(): Promise<void> {
    const filters = encodeURIComponent(
      JSON.stringify({ service: ['deployed'], 'desired-state': ['running'] }),
    );
    const isSo = async () => {
      const tasks = await this.#manager.call<Task[]>('GET', `/tasks?filters=${filters}`);
      const running = tasks.filter(
        ({ Status, Spec }) => Status.State === 'running' && (Spec.ForceUpdate ?? 0) === this.#version,
      );
      return running.length === this.#wish.size;
    };
    await until(isSo, { timeoutMs: SHOWN_MS, pollMs: POLL_MS, what: 'Swarm to show all tasks running' });
  }

  async update(atOnce: number): Promise<void> {
    const { ID, Version, Spec } = await this.#manager.call<Service>('GET', '/services/deployed');
    this.#version += 1;
    const TaskTemplate = { ...Spec.TaskTemplate, ForceUpdate: this.#version };
    const spec = { ...Spec, TaskTemplate, UpdateConfig: { Parallelism: atOnce } };
    await this.#manager.call('POST', `/services/${ID}/update?version=${Version.Index}`, spec);
  }

  async remove(): Promise<void> {
    await this.#manager.call('DELETE', '/services/deployed');
  }

  async #create(name: string, placement?: object): Promise<void> {
    const { image, command } = this.#wish;
    await this.#manager.call('POST', '/services/create', {
      Name: name,
      TaskTemplate: {
        ContainerSpec: { Image: image, Command: command },
        RestartPolicy: { Condition: 'any', Delay: 0 },
        ...(placement && { Placement: placement }),
      },
      Mode: { Global: {} },
    });
  }
}
