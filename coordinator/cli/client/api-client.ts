/** Creates API clients from kubeconfigs. */
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { homedir } from 'node:os';
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  type SecureContextOptions,
} from 'node:tls';
import { isNotFound } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { readProxyUrl } from '../../../shared/link/forward-proxy/proxy-settings.js';
import {
  type OpenTunnel,
  tunnellingAgent,
  tunnelOpener,
  tunnelOpenerOf,
} from '../../../shared/link/forward-proxy/proxy-tunnel.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { type ApiClient, createApiClient, limitHandshakeTime } from './api-http-client.js';

import { chooseKubeconfig, type KubeconfigChoice, type KubeconfigOptions } from './kubeconfig-choice.js';
import { credentialsOf } from './kubeconfig-credentials.js';
import {
  type ChosenContext,
  chooseContext,
  readKubeconfig,
  textOf,
  textOrFile,
  unusable,
} from './kubeconfig-file.js';

export type { ApiClient } from './api-http-client.js';

/** Served only by Everynode coordinators. */
const GROUP_PATH = `/apis/${FLEET_GROUP}`;

/** Returns a client for the coordinator and user that the options and the environment select. Throws `ExitError`. */
export function connect(options: KubeconfigOptions): ApiClient {
  const choice = choose(options);
  const client = clientOf(choice, options.context);
  // The kubeconfig in a data directory names its coordinator. Any other kubeconfig may name another cluster.
  return choice.isOwn ? client : withCheck(client);
}

/** True if the options and the environment select the kubeconfig in the data directory of a coordinator of this machine. */
export function isOwnCoordinator(options: KubeconfigOptions): boolean {
  return choose(options).isOwn;
}

function choose(options: KubeconfigOptions): KubeconfigChoice {
  return chooseKubeconfig(options, {
    variable: process.env.KUBECONFIG,
    homeDir: homedir(),
    defaultDataDir: defaultDataDir(),
    exists: existsSync,
  });
}

/** Returns a client for the current context of a file that a coordinator wrote. Throws `ExitError`. */
export function apiClientFromKubeconfig(path: string): ApiClient {
  return clientOf({ files: [path], source: '--data', isOwn: true }, undefined);
}

function clientOf(choice: KubeconfigChoice, contextName: string | undefined): ApiClient {
  const context = chooseContext(readKubeconfig(choice), contextName);
  const server = serverOf(context);
  const ca = textOrFile(context.cluster, 'certificate-authority');
  const { certificate, key, headers } = credentialsOf(context.user, clusterInfo(context, ca));
  const tls = { ca, cert: certificate, key };
  refuseBadCertificates(tls, context);
  const { fields } = context.cluster;
  const servername = textOf(context.cluster, 'tls-server-name');
  const tunnel = tunnelOf(context);
  const agent = tunnellingAgent(
    tunnel,
    {
      ...tls,
      ...(servername === undefined ? {} : { servername }),
      ...(fields['insecure-skip-tls-verify'] === true ? { rejectUnauthorized: false } : {}),
      keepAlive: true,
    },
    tunnel && dial,
  );
  const origin = `context "${context.name}" of ${context.file}`;
  return createApiClient({
    server,
    origin,
    namespace: context.namespace ?? 'default',
    certificateAuthority: ca,
    agent,
    headers,
  });
}

/** Like kubectl: `proxy-url` of the kubeconfig, else HTTPS_PROXY and NO_PROXY. Throws `ExitError`. */
function tunnelOf({ cluster }: ChosenContext): OpenTunnel | undefined {
  const own = textOf(cluster, 'proxy-url');
  if (own) {
    const proxy = readOrRefuse(`The ${cluster.title}: proxy-url`, () => readProxyUrl(own));
    return proxy && tunnelOpenerOf(proxy);
  }
  const { HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy } = process.env;
  return tunnelOpener({
    httpsProxy: readOrRefuse('HTTPS_PROXY', () => readProxyUrl(HTTPS_PROXY ?? https_proxy ?? '')),
    noProxy: NO_PROXY ?? no_proxy,
  });
}

function readOrRefuse<T>(source: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unusable(`${source} ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** https sets `path` to the URL's path, which tls would use as a Unix socket. */
function dial(options: ConnectionOptions): Socket {
  return limitHandshakeTime(connectTls({ ...options, path: undefined }));
}

/** Returns the cluster in the form that credential plugins get (`client.authentication.k8s.io/v1` Cluster). */
function clusterInfo({ cluster: { fields } }: ChosenContext, ca: string | undefined): object {
  return {
    server: fields.server,
    'tls-server-name': fields['tls-server-name'],
    'insecure-skip-tls-verify': fields['insecure-skip-tls-verify'],
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
  };
}

/** Throws `ExitError` for a server that this client does not support. */
function serverOf({ cluster }: ChosenContext): string {
  const server = textOf(cluster, 'server');
  if (server === undefined) throw unusable(`The ${cluster.title} has no server.`);
  if (!URL.canParse(server) || new URL(server).protocol !== 'https:') {
    throw unusable(`The ${cluster.title}: server must be of the form https://HOST:PORT, not "${server}".`);
  }
  return server;
}

function refuseBadCertificates(tls: SecureContextOptions, { name, file }: ChosenContext): void {
  try {
    createSecureContext(tls);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw unusable(`The certificates or the key of context "${name}" in ${file} cannot be used: ${why}.`);
  }
}

/**
 * Checks before the first request that the server has the coordinator's API group. Otherwise `token create` could write
 * into another cluster that ~/.kube/config names.
 */
function withCheck(client: ApiClient): ApiClient {
  let checked: Promise<unknown> | undefined;
  const check = (): Promise<unknown> => {
    checked ??= refuseOtherCluster(client);
    return checked;
  };
  return {
    ...client,
    request: async (method, path, body) => {
      await check();
      return client.request(method, path, body);
    },
    download: async (path, save) => {
      await check();
      return client.download(path, save);
    },
  };
}

async function refuseOtherCluster(client: ApiClient): Promise<void> {
  try {
    await client.request('GET', GROUP_PATH);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const { server, origin } = client;
    throw unusable(
      `${server} (${origin}) is not an Everynode coordinator: it does not serve ${FLEET_GROUP}.`,
    );
  }
}
