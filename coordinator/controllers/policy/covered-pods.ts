/** The Pods that a PodDisruptionBudget covers, counted with each change instead of with each reconcile. */
import { controllerOf, type OwnerReference } from '../../../shared/kube/objects/meta.js';
import type { Matcher } from '../../../shared/kube/objects/selectors.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { isHealthy } from '../../decisions/policy/disruption-status.js';

interface CountedPod {
  isHealthy: boolean;
  isEnding: boolean;
  controllerUid: string;
}

/** Pods with one controller. */
interface CountedController {
  reference: OwnerReference;
  pods: number;
  /** One of its Pods, for messages. */
  example: string;
}

export class CoveredPodCounts {
  readonly #matcher: Matcher;
  readonly #pods = new Map<string, CountedPod>();
  readonly #controllers = new Map<string, CountedController>();
  #healthy = 0;
  #unmanaged = 0;

  constructor(matcher: Matcher) {
    this.#matcher = matcher;
  }

  get pods(): number {
    return this.#pods.size;
  }

  get healthy(): number {
    return this.#healthy;
  }

  /** Number of Pods without a controller. */
  get unmanaged(): number {
    return this.#unmanaged;
  }

  get controllers(): Iterable<CountedController> {
    return this.#controllers.values();
  }

  /** See `CoveredPods.stateOf`. */
  stateOf(name: string): 'healthy' | 'unhealthy' | undefined {
    const pod = this.#pods.get(name);
    if (!pod || pod.isEnding) return undefined;
    return pod.isHealthy ? 'healthy' : 'unhealthy';
  }

  /** Counts a change of a Pod of the budget's namespace. Returns true if the budget may have to change. */
  changed(previous: Pod | undefined, current: Pod | undefined): boolean {
    const name = (current ?? previous)?.metadata.name ?? '';
    const before = this.#pods.get(name);
    if (before) this.#remove(name, before);
    const isCovered = current !== undefined && this.#matcher.matches(current.metadata.labels);
    const after = isCovered ? this.#add(current) : undefined;
    return JSON.stringify(before) !== JSON.stringify(after);
  }

  #add(pod: Pod): CountedPod {
    const reference = controllerOf(pod.metadata);
    const counted: CountedPod = {
      isHealthy: isHealthy(pod),
      isEnding: pod.metadata.deletionTimestamp !== undefined,
      controllerUid: reference?.uid ?? '',
    };
    this.#pods.set(pod.metadata.name, counted);
    if (counted.isHealthy) this.#healthy += 1;
    if (!reference) this.#unmanaged += 1;
    else {
      const known = this.#controllers.get(reference.uid);
      if (known) known.pods += 1;
      else this.#controllers.set(reference.uid, { reference, pods: 1, example: pod.metadata.name });
    }
    return counted;
  }

  #remove(name: string, { isHealthy: wasHealthy, controllerUid }: CountedPod): void {
    this.#pods.delete(name);
    if (wasHealthy) this.#healthy -= 1;
    if (controllerUid === '') this.#unmanaged -= 1;
    const controller = this.#controllers.get(controllerUid);
    if (!controller) return;
    controller.pods -= 1;
    if (controller.pods === 0) this.#controllers.delete(controllerUid);
  }
}
