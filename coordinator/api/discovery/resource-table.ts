/**
 * The table of all resources that the API serves, stored or computed. Discovery, the scope check before authorization
 * and the dispatch use only this table, so a resource that is missing here is not served at all.
 */
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import type { CustomKinds, CustomResource } from '../../kinds/custom-resources/custom-kinds.js';
import { VIEW_KINDS } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import { UNSUPPORTED_KINDS, type UnsupportedKind } from '../../kinds/unsupported-kinds.js';
import { AUDIT_RESOURCE, handleAudit } from '../audit/audit-resource.js';
import { handleReview, REVIEW_RESOURCES } from '../auth/review-requests.js';
import { handleTokenRequest } from '../auth/token-request.js';
import { BACKUP_RESOURCE, handleBackup } from '../fleet/backup-resource.js';
import {
  COORDINATOR_TOKEN_RESOURCE,
  handleCoordinatorToken,
  handleStepDown,
} from '../fleet/coordinator-actions.js';
import { COORDINATOR_RESOURCE, handleCoordinators } from '../fleet/coordinators-resource.js';
import { HOST_EFFECT_RESOURCE, handleHostEffect } from '../fleet/host-effects-resource.js';
import { handleHostMeters, handleHostReadings } from '../fleet/host-telemetry-resource.js';
import { HOST_RESOURCE, handleHosts } from '../fleet/hosts-resource.js';
import { handleJoinAddress, JOIN_ADDRESS_RESOURCE } from '../fleet/join-address-resource.js';
import { handleNodeProxy } from '../fleet/node-proxy.js';
import { handlePlan, PLAN_RESOURCE } from '../fleet/plan-resource.js';
import { handleMetrics, METRICS_RESOURCES } from '../fleet/resource-metrics.js';
import { handleRestore, RESTORE_RESOURCE, warnUnconfirmedRestore } from '../fleet/restore-resource.js';
import { handleCalendar, handleRolloutHosts } from '../fleet/rollout-subresources.js';
import { handleServiceWhy, SERVICE_WHY_RESOURCE } from '../fleet/service-why-resource.js';
import { handleWhy, WHY_RESOURCE } from '../fleet/why-resource.js';
import { HOST_AVAILABILITY_RESOURCE, handleHostAvailability } from '../host-views/availability-resource.js';
import {
  DAEMON_JOB_PREVIEW_RESOURCE,
  handleDaemonJobHosts,
  handleDaemonJobPreview,
  handleJobsOfHost,
} from '../host-views/daemonjob-host-resource.js';
import { EFFECTIVE_VALUE_RESOURCE, handleEffectiveValues } from '../host-views/effective-value-resource.js';
import type { ApiResponse } from '../http/api-context.js';
import { requireWholeObject } from '../http/media-type.js';
import type { ResourceRequest } from '../http/request-info.js';
import {
  handleReleases,
  handleReleaseTrust,
  RELEASE_RESOURCE,
  RELEASE_TRUST_RESOURCE,
} from '../releases/release-resources.js';
import { handleObject, handleObjectSubresource } from '../resources/object-handlers.js';
import { handlePodLog } from '../resources/pod-log.js';
import { handleBinding, handleEviction } from '../resources/pod-subresources.js';
import { handleScale } from '../resources/scale-subresource.js';
import type { DiscoveredResource } from './discovery-documents.js';
import type { Handler, ServedResource } from './served-resource.js';

/** Handlers of subresources that are not a part of the stored object, by `resource/subresource`. */
const SUBRESOURCE_HANDLERS: Readonly<Record<string, Handler>> = {
  'pods/attach': refuseWithoutUpgrade,
  'pods/exec': refuseWithoutUpgrade,
  'pods/log': handlePodLog,
  'pods/portforward': refuseWithoutUpgrade,
  'pods/eviction': withoutTables(handleEviction),
  'pods/binding': withoutTables(handleBinding),
  'serviceaccounts/token': withoutTables(handleTokenRequest),
  'daemonjobs/hosts': handleDaemonJobHosts,
  'rolloutpolicies/calendar': handleCalendar,
  'rollouts/hosts': handleRolloutHosts,
  'nodes/proxy': handleNodeProxy,
};

const OBJECT_SUBRESOURCES: ReadonlySet<string> = new Set([
  'status',
  'approval',
  'finalize',
  'ephemeralcontainers',
]);

/** These subresources need an upgraded connection, which `upgrades/` handles (apimachinery `NewUpgradeRequired`). */
async function refuseWithoutUpgrade(): Promise<ApiResponse> {
  throw badRequest('Upgrade request required');
}

/** The resource has no Tables. A request that accepts nothing else is 406 before it has an effect. */
function withoutTables(handle: Handler): Handler {
  return async (deps, request) => {
    requireWholeObject(request.headers.accept);
    return handle(deps, request);
  };
}

/** Resources that are computed and not stored, in the order of discovery. */
const COMPUTED_RESOURCES: readonly ServedResource[] = [
  ...REVIEW_RESOURCES.map((resource) => discovered(resource, withoutTables(handleReview))),
  ...METRICS_RESOURCES.map((resource) => discovered(resource, withoutTables(handleMetrics))),
  discovered(HOST_RESOURCE, handleHosts, {
    jobs: handleJobsOfHost,
    meters: handleHostMeters,
    readings: handleHostReadings,
  }),
  discovered(COORDINATOR_RESOURCE, handleCoordinators, { stepdown: handleStepDown }),
  undiscovered(AUDIT_RESOURCE, handleAudit),
  undiscovered(BACKUP_RESOURCE, handleBackup),
  undiscovered(COORDINATOR_TOKEN_RESOURCE, handleCoordinatorToken),
  undiscovered(DAEMON_JOB_PREVIEW_RESOURCE, handleDaemonJobPreview),
  undiscovered(EFFECTIVE_VALUE_RESOURCE, handleEffectiveValues),
  undiscovered(HOST_AVAILABILITY_RESOURCE, handleHostAvailability),
  undiscovered(HOST_EFFECT_RESOURCE, handleHostEffect),
  undiscovered(JOIN_ADDRESS_RESOURCE, handleJoinAddress),
  undiscovered(PLAN_RESOURCE, handlePlan),
  undiscovered(RELEASE_RESOURCE, handleReleases),
  undiscovered(RELEASE_TRUST_RESOURCE, handleReleaseTrust),
  undiscovered(RESTORE_RESOURCE, handleRestore),
  undiscovered(WHY_RESOURCE, handleWhy, { why: handleWhy }),
  undiscovered(SERVICE_WHY_RESOURCE, handleServiceWhy, { why: handleServiceWhy }),
];

function discovered(
  resource: DiscoveredResource,
  answer: Handler,
  subresourceHandlers: Readonly<Record<string, Handler>> = {},
): ServedResource {
  return { ...resource, isDiscovered: true, handle: answer, subresourceHandlers };
}

function undiscovered(...row: Parameters<typeof discovered>): ServedResource {
  return { ...discovered(...row), isDiscovered: false };
}

function stored(kind: Kind): ServedResource {
  const warned =
    (handler: Handler): Handler =>
    async (deps, request) => {
      warnUnconfirmedRestore(deps, request);
      return handler(deps, request);
    };
  const handlers = Object.keys(kind.subresources).flatMap((subresource): [string, Handler][] => {
    if (subresource === 'scale') {
      return [[subresource, warned(withoutTables((deps, request) => handleScale(deps, kind, request)))]];
    }
    const handler = OBJECT_SUBRESOURCES.has(subresource)
      ? (deps: Parameters<Handler>[0], request: Parameters<Handler>[1]) =>
          handleObjectSubresource(deps, kind, request)
      : SUBRESOURCE_HANDLERS[`${kind.resource}/${subresource}`];
    return handler ? [[subresource, warned(handler)]] : [];
  });
  return {
    ...discovered(
      kind,
      warned((deps, request) => handleObject(deps, kind, request)),
    ),
    schema: kind.schema,
    subresourceHandlers: Object.fromEntries(handlers),
  };
}

/** Lists and watches read the store, so the responses have all forms and parameters of other kinds. */
function unsupported({ kind, refusal }: UnsupportedKind): ServedResource {
  const { schema } = kind;
  return { ...discovered(kind, (deps, request) => handleObject(deps, kind, request)), schema, refusal };
}

/** Warns of a deprecated version. While the definition is deleted, nothing can be created. */
function customResource({ kind, isTerminating, deprecation, scale }: CustomResource): ServedResource {
  const checked =
    (handle: Handler): Handler =>
    async (deps, request) => {
      const { verb } = request.info;
      if (deprecation !== undefined) request.warn(deprecation);
      if (isTerminating && verb === 'create') {
        const message = `${verb} not allowed while custom resource definition is terminating`;
        throw new ApiError('MethodNotAllowed', message);
      }
      return handle(deps, request);
    };
  const row = stored(kind);
  const { status } = row.subresourceHandlers;
  return {
    ...row,
    handle: checked(row.handle),
    subresourceHandlers: {
      ...(status ? { status: checked(status) } : {}),
      ...(scale
        ? { scale: checked(withoutTables((deps, request) => handleScale(deps, kind, request, scale))) }
        : {}),
    },
  };
}

type ResourceName = Pick<ResourceRequest, 'group' | 'version' | 'resource'>;

/** The custom kinds of now, as far as the table needs them. */
type CustomKindSource = Pick<CustomKinds, 'changes' | 'find' | 'list'>;

const NO_CUSTOM_KINDS: CustomKindSource = { changes: 0, find: () => undefined, list: () => [] };

export class ResourceTable {
  /** Stored kinds first, then their other versions, kinds without objects, and computed resources. */
  readonly fixedRows: readonly ServedResource[];
  readonly #byName: ReadonlyMap<string, ServedResource>;
  readonly #custom: CustomKindSource;
  readonly #customRows = new WeakMap<CustomResource, ServedResource>();

  /** `kinds` are the built-in kinds. */
  constructor(kinds: readonly Kind[], custom: CustomKindSource = NO_CUSTOM_KINDS) {
    this.#custom = custom;
    this.fixedRows = [
      ...kinds.map(stored),
      ...VIEW_KINDS.map(stored),
      ...UNSUPPORTED_KINDS.map(unsupported),
      ...COMPUTED_RESOURCES,
    ];
    this.#byName = new Map(this.fixedRows.map((row) => [nameOf(row), row]));
  }

  /** The fixed rows and those of the custom kinds. */
  get rows(): readonly ServedResource[] {
    return [...this.fixedRows, ...this.customResources.map((resource) => this.#customRow(resource))];
  }

  /** The custom kinds of now. A built-in resource of the same name hides a custom one. */
  get customResources(): readonly CustomResource[] {
    return this.#custom.list().filter(({ kind }) => !this.#byName.has(nameOf(kind)));
  }

  /** Increases when `rows` has changed. */
  get changes(): number {
    return this.#custom.changes;
  }

  /** Returns undefined for an unknown resource. */
  find(name: ResourceName): ServedResource | undefined {
    const fixed = this.#byName.get(nameOf(name));
    if (fixed) return fixed;
    const custom = this.#custom.find(name);
    return custom && this.#customRow(custom);
  }

  #customRow(resource: CustomResource): ServedResource {
    const row = this.#customRows.get(resource) ?? customResource(resource);
    this.#customRows.set(resource, row);
    return row;
  }
}

function nameOf({ group, version, resource }: ResourceName): string {
  return `${group}/${version}/${resource}`;
}
