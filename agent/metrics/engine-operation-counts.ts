/**
 * Counts calls and errors of the engine, with the kubelet's operation names
 * (pkg/kubelet/kuberuntime/instrumented_services.go).
 */
import type { RuntimeDriver } from '../runtime/runtime-driver.js';

const OPERATIONS: ReadonlyMap<string | symbol, string> = new Map([
  ['info', 'status'],
  ['list', 'list_containers'],
  ['inspectPod', 'container_status'],
  ['storage', 'container_stats'],
  ['usage', 'list_container_stats'],
  ['findImage', 'image_status'],
  ['pull', 'pull_image'],
  ['removeImage', 'remove_image'],
  ['create', 'create_container'],
  ['start', 'start_container'],
  ['stop', 'stop_container'],
  ['remove', 'remove_container'],
  ['exec', 'exec'],
]);

export interface OperationCount {
  operation: string;
  calls: number;
  errors: number;
}

export class EngineOperationCounts {
  readonly #counts = new Map<string, OperationCount>();

  /** Returns a driver that counts its calls. */
  instrument(driver: RuntimeDriver): RuntimeDriver {
    return new Proxy(driver, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const operation = OPERATIONS.get(name);
        const call = (...args: unknown[]): unknown => member.apply(target, args);
        return operation === undefined ? call : (...args: unknown[]) => this.#count(operation, call(...args));
      },
    });
  }

  all(): Iterable<OperationCount> {
    return this.#counts.values();
  }

  #count(operation: string, answer: unknown): unknown {
    const count = this.#counts.get(operation) ?? { operation, calls: 0, errors: 0 };
    this.#counts.set(operation, count);
    count.calls += 1;
    if (!(answer instanceof Promise)) return answer;
    return answer.catch((error: unknown) => {
      count.errors += 1;
      throw error;
    });
  }
}
