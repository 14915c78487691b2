/** Starts the API on a free port over a memory store, as tests need it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentLink } from '../../coordinator/api/agent-link.js';
import { DEFAULT_API_SETTINGS } from '../../coordinator/api/api-request.js';
import { ADMIN, tokenAuthenticator, tokenHash } from '../../coordinator/api/authenticate.js';
import { loadPki, type Pki } from '../../coordinator/api/certificates.js';
import type { Explain } from '../../coordinator/api/explain.js';
import { kubeconfigText } from '../../coordinator/api/kubeconfig.js';
import type { PodStreams } from '../../coordinator/api/pod-streams.js';
import type { RestoreControl } from '../../coordinator/api/restore-control.js';
import { type ApiServer, type ApiServerOptions, createApiServer } from '../../coordinator/api/server.js';
import { ALL_KINDS, daemonSetKind } from '../../coordinator/kinds/index.js';
import { createRegistry } from '../../coordinator/registry/create-registry.js';
import type { Registry } from '../../coordinator/registry/registry.js';
import { MemoryStore } from '../../coordinator/store/memory-store.js';
import { ApiError, notFound } from '../../shared/kube/status.js';
import { systemClock } from '../../shared/process/clock.js';
import { silentLogger } from '../../shared/process/log.js';

export const TEST_TOKEN = 'test-token';

export interface TestApi {
  registry: Registry;
  port: number;
  url: string;
  pki: Pki;
  /** Text of a kubeconfig for it. */
  kubeconfig: string;
  renewCertificate: ApiServer['renewCertificate'];
  stop(): Promise<void>;
}

/** Streams of a fleet without hosts. */
export const NO_STREAMS: PodStreams = {
  logs: () => Promise.reject(new ApiError('ServiceUnavailable', 'no host is connected')),
  open: () => Promise.reject(new ApiError('ServiceUnavailable', 'no host is connected')),
};

/** Knows no DaemonSet. */
const NOT_RESTORED: RestoreControl = { unconfirmed: () => undefined, confirm: async () => undefined };

const NO_DAEMON_SETS: Explain = {
  explainNode: ({ name }) => {
    throw notFound(daemonSetKind, name);
  },
  explainFleet: ({ name }) => Promise.reject(notFound(daemonSetKind, name)),
};

/** A hub that refuses everyone. */
export const NO_AGENTS: AgentLink = {
  join: () => Promise.reject(new ApiError('Unauthorized', 'Unauthorized')),
  handleUpgrade: (_request, socket) => socket.destroy(),
};

/** Namespaces that a namespace controller would have made. */
const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** One certificate authority for all tests of a process: keys take time. */
let sharedPki: Promise<Pki> | undefined;

async function makePki(): Promise<Pki> {
  const directory = await mkdtemp(join(tmpdir(), 'everynode-pki-'));
  try {
    return await loadPki(directory, ['localhost', '127.0.0.1', '::1'], Date.now());
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** A server with the real registry over memory; `change` replaces what a test is about. */
export async function startTestApi(change: Partial<ApiServerOptions> = {}): Promise<TestApi> {
  const log = silentLogger;
  const registry =
    change.registry ??
    createRegistry({ store: new MemoryStore(), kinds: ALL_KINDS, clock: systemClock, log });
  sharedPki ??= makePki();
  const pki = await sharedPki;
  const server = createApiServer({
    registry,
    streams: NO_STREAMS,
    explain: NO_DAEMON_SETS,
    restore: NOT_RESTORED,
    clock: systemClock,
    log,
    settings: DEFAULT_API_SETTINGS,
    tls: pki.serving,
    authenticate: tokenAuthenticator(tokenHash(TEST_TOKEN), ADMIN),
    agentLink: NO_AGENTS,
    version: '0.0.0',
    ...change,
  });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  const url = `https://127.0.0.1:${port}`;
  const namespaces = registry.kinds.find(({ resource }) => resource === 'namespaces');
  for (const name of namespaces ? NAMESPACES : []) {
    if (namespaces) await registry.create(namespaces, undefined, { metadata: { name } });
  }
  const kubeconfig = kubeconfigText({ server: url, caCertificate: pki.ca.cert, token: TEST_TOKEN });
  const { renewCertificate, close } = server;
  return { registry, port, url, pki, kubeconfig, renewCertificate, stop: close };
}
