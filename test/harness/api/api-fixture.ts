/** Starts the API on a free port over a memory store. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Authenticator,
  createIdentities,
  type Identities,
} from '../../../coordinator/access/identities.js';
import { NodeAuthorizer } from '../../../coordinator/access/node-authorizer.js';
import { RbacAuthorizer, type RbacInformers } from '../../../coordinator/access/rbac-authorizer.js';
import { ISSUER, ServiceAccountTokens } from '../../../coordinator/access/service-account-tokens.js';
import { loadSigningKeys, type SigningKey } from '../../../coordinator/access/token-signing-keys.js';
import { kubeconfigText } from '../../../coordinator/api/auth/admin-kubeconfig.js';
import { ADMIN, tokenAuthenticator, tokenHash } from '../../../coordinator/api/auth/token-authenticator.js';
import { DEFAULT_API_SETTINGS } from '../../../coordinator/api/http/api-context.js';
import {
  type ApiServer,
  type ApiServerOptions,
  createApiServer,
} from '../../../coordinator/api/http/api-server.js';
import { AgentFiles } from '../../../coordinator/api/join/agent-downloads.js';
import type {
  AgentLink,
  ChangePlanner,
  Explainer,
  HostFeed,
  PodStreams,
  RestoreControl,
  ServiceExplainer,
} from '../../../coordinator/api/ports.js';
import { ReleaseUploads } from '../../../coordinator/api/releases/release-uploads.js';
import type { LeaderDoor } from '../../../coordinator/cluster/front-door/front-door.js';
import type { Informers } from '../../../coordinator/informers/informer.js';
import { ALL_KINDS, daemonSetKind, serviceKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import { loadPki, type Pki } from '../../../coordinator/pki/load-pki.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { ApiError, notFound } from '../../../shared/kube/objects/api-status.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { systemRandom } from '../../../shared/process/time/random.js';
import { MemoryStore } from '../controllers/memory-store.js';

export const TEST_TOKEN = 'test-token';

export interface TestApi {
  registry: Registry;
  port: number;
  url: string;
  pki: Pki;
  /** Text of a kubeconfig for this API. */
  kubeconfig: string;
  renewCertificate: ApiServer['renewCertificate'];
  stop(): Promise<void>;
}

/** Pod streams of a fleet without hosts. */
export const NO_STREAMS: PodStreams = {
  logs: () => Promise.reject(new ApiError('ServiceUnavailable', 'no host is connected')),
  open: () => Promise.reject(new ApiError('ServiceUnavailable', 'no host is connected')),
};

/** An explanation source without DaemonSets. */
const NOT_RESTORED: RestoreControl = { unconfirmed: () => undefined, confirm: async () => undefined };

const NO_HOSTS: HostFeed = {
  list: async () => [],
  get: async () => undefined,
  watch: async () => ({ first: [], leave: () => undefined }),
};

const NO_TIME = { observedSeconds: 0, readySeconds: 0 };
const NO_READINGS = { stepSeconds: 60, times: [], cpu: [], memory: [], disk: [], roundTripMs: [] };

const NO_DAEMON_SETS: Explainer = {
  explainNode: ({ name }) => {
    throw notFound(daemonSetKind, name);
  },
  explainFleet: ({ name }) => Promise.reject(notFound(daemonSetKind, name)),
  rolloutHosts: ({ name }) => Promise.reject(notFound(daemonSetKind, name)),
};

const NO_SERVICES: ServiceExplainer = {
  explainService: ({ name }) => Promise.reject(notFound(serviceKind, name)),
};

const NOTHING = { get: () => undefined, indexed: () => [] } as unknown as RbacInformers['roles'];
const NO_ROLES = {
  roles: NOTHING,
  clusterRoles: NOTHING,
  roleBindings: NOTHING as unknown as RbacInformers['roleBindings'],
  clusterRoleBindings: NOTHING as unknown as RbacInformers['clusterRoleBindings'],
};

/** Fails the test, because this API has no fleet. */
const unasked = async () => assert.fail('not served here');
const NO_RELEASES = { directory: '/nonexistent', trustFile: '/nonexistent' };
const NO_EFFECTS = { effectOf: unasked };
const NO_CALENDARS = { calendarOf: unasked };
const NO_JOBS = { hostsOf: unasked, preview: unasked, jobsOn: () => assert.fail('not served here') };
const NO_VALUES = {
  ofHost: () => assert.fail('not served here'),
  byValue: unasked,
  counts: unasked,
};

/** A planner that predicts no changes. */
const NO_PLANS: ChangePlanner = {
  warningsFor: async () => [],
  planManifests: async () => {
    const apiVersion = 'fleet.everynode.dev/v1';
    return { kind: 'Plan', apiVersion, verdict: 'NoChange', daemonSets: [], refused: [], notes: [] };
  },
  planDaemonSet: async ({ metadata: { namespace = '', name } }) => ({
    ...{ namespace, name, change: 'None', revision: '', sentence: '', reasons: [], waves: [] },
    ...{
      counts: { start: 0, stop: 0, replace: 0, wait: 0, keep: 0, none: 0 },
      assumptions: [],
      variants: [],
      hosts: [],
    },
  }),
};

/** A hub that rejects every agent. */
const NO_AGENTS: AgentLink = {
  join: () => Promise.reject(new ApiError('Unauthorized', 'Unauthorized')),
  certify: () => Promise.reject(new ApiError('Unauthorized', 'Unauthorized')),
  handleUpgrade: (_request, socket) => socket.destroy(),
};

/** Namespaces that the namespace controller would have created. */
const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** One certificate authority for all tests of a process, because creating keys is slow. */
let madePki: Promise<Pki> | undefined;

/** Returns the authority and certificate of every test API in this process. */
export function sharedPki(): Promise<Pki> {
  madePki ??= makePki();
  return madePki;
}

async function makePki(): Promise<Pki> {
  const directory = await mkdtemp(join(tmpdir(), 'everynode-pki-'));
  try {
    return await loadPki(directory, ['localhost', '127.0.0.1', '::1'], Date.now());
  } finally {
    await rm(directory, { recursive: true });
  }
}

let sharedKeys: Promise<readonly [SigningKey, ...SigningKey[]]> | undefined;

async function makeKeys(): Promise<readonly [SigningKey, ...SigningKey[]]> {
  const directory = await mkdtemp(join(tmpdir(), 'everynode-keys-'));
  try {
    return await loadSigningKeys(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/**
 * Authenticates the test token and ServiceAccount tokens. Roles come from `informers`; without informers there are
 * none.
 */
export async function testIdentities(
  registry: Registry,
  informers?: RbacInformers & Pick<Informers, 'pods' | 'secrets'>,
  others: readonly Authenticator[] = [],
): Promise<Identities> {
  sharedKeys ??= makeKeys();
  return createIdentities({
    authorizer: informers
      ? new NodeAuthorizer(new RbacAuthorizer(informers), informers)
      : new RbacAuthorizer(NO_ROLES),
    tokens: new ServiceAccountTokens({
      keys: await sharedKeys,
      registry,
      clock: systemClock,
      random: systemRandom,
    }),
    others: [tokenAuthenticator(tokenHash(TEST_TOKEN), ADMIN), ...others],
    audience: ISSUER,
  });
}

/**
 * Starts a server with the real registry over memory. `change` replaces the options under test. With a door it serves on
 * the door's port.
 */
export async function startTestApi(
  change: Partial<ApiServerOptions> = {},
  door?: LeaderDoor,
): Promise<TestApi> {
  const log = silentLogger;
  const registry =
    change.registry ??
    createRegistry({ store: new MemoryStore(), kinds: ALL_KINDS, clock: systemClock, log });
  const pki = await sharedPki();
  const server = createApiServer({
    registry,
    streams: NO_STREAMS,
    explainer: NO_DAEMON_SETS,
    serviceExplainer: NO_SERVICES,
    jobHosts: NO_JOBS,
    effectiveValues: NO_VALUES,
    hosts: NO_HOSTS,
    meters: { of: () => undefined },
    readings: { of: () => ({ recent: NO_READINGS, day: NO_READINGS, changes: [] }) },
    availability: { fleet: async () => ({ day: NO_TIME, week: NO_TIME, labels: [], groups: [] }) },
    planner: NO_PLANS,
    hostEffects: NO_EFFECTS,
    calendars: NO_CALENDARS,
    joinFacts: unasked,
    restore: NOT_RESTORED,
    backups: { take: unasked },
    releases: new ReleaseUploads(NO_RELEASES, { clock: systemClock, log }),
    clock: systemClock,
    log,
    settings: DEFAULT_API_SETTINGS,
    tls: { ...pki.serving, clientAuthorities: pki.ca.cert },
    identities: await testIdentities(registry),
    agentLink: NO_AGENTS,
    agentFiles: new AgentFiles(NO_RELEASES, '0.0.0'),
    version: '0.0.0',
    ...(door ? { forwarding: door.forwarding } : {}),
    ...change,
  });
  const port = door?.port ?? (await server.listen({ host: '127.0.0.1', port: 0 }));
  await (door && server.listenOn(door));
  const url = `https://127.0.0.1:${port}`;
  const namespaces = registry.kinds.find(({ resource }) => resource === 'namespaces');
  for (const name of namespaces ? NAMESPACES : []) {
    if (namespaces) await createUnlessThere(registry, namespaces, name);
  }
  const kubeconfig = kubeconfigText({ server: url, caCertificate: pki.ca.cert, token: TEST_TOKEN });
  const { renewCertificate, close } = server;
  return { registry, port, url, pki, kubeconfig, renewCertificate, stop: close };
}

async function createUnlessThere(registry: Registry, kind: Kind, name: string): Promise<void> {
  try {
    await registry.create(kind, undefined, { metadata: { name } });
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
  }
}
