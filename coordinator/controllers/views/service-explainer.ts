/** Explains the endpoints of a Service, and which hosts have it. From the informers, without writes. */
import type {
  EndpointCode,
  EndpointExplanation,
  ServiceExplanation,
  ServiceReasonsDocument,
} from '../../../shared/kube/fleet/service-explanation-types.js';
import { notFound } from '../../../shared/kube/objects/api-status.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { type Service, serviceKey } from '../../../shared/kube/services/service-types.js';
import type { EndpointState } from '../../../shared/kube/services/service-view.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { explainService } from '../../decisions/services/endpoint-reasons.js';
import { serviceViewOf } from '../../decisions/services/service-view-of.js';
import { sliceMembers } from '../../decisions/services/slice-endpoints.js';
import { BY_NAMESPACE, type Informers, SLICES_BY_SERVICE } from '../../informers/informer.js';
import { serviceKind } from '../../kinds/index.js';

/** What hosts have received. */
interface SentServices {
  /** Returns the names of the nodes whose hosts have the Service. */
  hostsWith(service: ObjectRef): string[];
}

interface ServiceExplainerDeps {
  informers: Pick<Informers, 'pods' | 'nodes' | 'services' | 'endpointSlices'>;
  clock: Clock;
  sent: SentServices;
}

const CODES: Record<EndpointState, EndpointCode> = {
  ready: 'Ready',
  terminating: 'Terminating',
  notReady: 'NotReady',
};

export class ServiceExplainer {
  readonly #deps: ServiceExplainerDeps;

  constructor(deps: ServiceExplainerDeps) {
    this.#deps = deps;
  }

  /** Visits the Pods of the namespace in time slices. Throws ApiError 404. */
  async explainService(ref: ObjectRef): Promise<ServiceReasonsDocument> {
    const { services, nodes } = this.#deps.informers;
    const service = services.get(ref);
    if (!service) throw notFound(serviceKind, ref.name);
    const pods = await this.#selectedPods(service);
    const explanation = explainService(service, pods, (name) => nodes.get({ name }));
    const written = explanation.source === 'manual' ? this.#writtenEndpoints(service) : undefined;
    return {
      ...(written ? withEndpoints(explanation, written) : explanation),
      knownBy: this.#deps.sent.hostsWith(ref).sort(),
    };
  }

  async #selectedPods({ metadata, spec }: Service): Promise<Pod[]> {
    const selector = Object.entries(spec?.selector ?? {});
    if (selector.length === 0) return [];
    const slice = new TimeSlice(this.#deps.clock);
    const selected: Pod[] = [];
    for (const pod of this.#deps.informers.pods.indexed(BY_NAMESPACE, metadata.namespace ?? '')) {
      if (selector.every(([label, value]) => pod.metadata.labels?.[label] === value)) selected.push(pod);
      await slice.yieldIfUsedUp();
    }
    return selected;
  }

  /** Endpoints of a Service without a selector. */
  #writtenEndpoints(service: Service): EndpointExplanation[] {
    const rules = serviceViewOf(service);
    const slices = this.#deps.informers.endpointSlices.indexed(
      SLICES_BY_SERVICE,
      serviceKey(service.metadata),
    );
    return slices.flatMap((slice) =>
      sliceMembers(rules, slice, () => undefined).flatMap(({ node, state, place }) => {
        if (!place) return [];
        const { addresses, ports } = place;
        const because = `it is in EndpointSlice ${slice.metadata.name}`;
        return {
          pod: '',
          node,
          code: CODES[state],
          because,
          listed: { state, isFleetWide: true, addresses, ports },
        };
      }),
    );
  }
}

function withEndpoints(
  explanation: ServiceExplanation,
  endpoints: EndpointExplanation[],
): ServiceExplanation {
  const counts: ServiceExplanation['counts'] = {};
  for (const { code } of endpoints) counts[code] = (counts[code] ?? 0) + 1;
  return { ...explanation, counts, endpoints };
}
