/** Finds out about the port, the names and the proxy of a coordinator. */
import { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { createServer, isIP } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { proxyFor, readProxyUrl, shownProxy } from '../../../shared/link/forward-proxy/proxy-settings.js';
import type { CoordinatorSettings } from '../../coordinator-settings.js';
import type { NameFact, PortFact, ProxyFact } from '../../decisions/doctor/coordinator-facts.js';
import { readTrust } from '../../pki/read-trust.js';
import { memberServer, withHost } from '../../server-addresses.js';

const ANSWER_TIMEOUT_MS = 3_000;
const ANY_ADDRESS = new Set(['0.0.0.0', '::', '']);

/** Listens for a moment. A port in use is fine if this directory's coordinator serves there. */
export async function portFact(settings: CoordinatorSettings): Promise<PortFact> {
  const { host, port } = settings;
  const address = new URL(withHost(`https://localhost:${port}`, host)).host;
  const refused = await listenOnce(host, port);
  if (!refused) return { address, state: 'free' };
  const { code, message } = refused;
  if (code === 'EADDRINUSE' && (await servesHere(settings))) return { address, state: 'own' };
  return { address, state: 'refused', reason: message, code };
}

function listenOnce(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/**
 * True if a server there has a certificate of this directory's authority, or one of its own certificates: that of
 * --tls-cert-file has another authority, and an expired one is valid for none.
 */
async function servesHere({ host, port, data, tlsCertFile }: CoordinatorSettings): Promise<boolean> {
  const ca = await readTrust(join(data, 'pki')).catch(() => '');
  const files = [join(data, 'pki', 'serving.pem'), ...(tlsCertFile ? [tlsCertFile] : [])];
  const own = await Promise.all(files.map(fingerprintOf));
  return new Promise((resolve) => {
    const socket = connect({
      host: ANY_ADDRESS.has(host) ? '127.0.0.1' : host,
      port,
      // Without an own authority Node would trust the public ones.
      ...(ca === '' ? {} : { ca }),
      // Nothing is sent, so an unknown server learns nothing.
      rejectUnauthorized: false,
      timeout: ANSWER_TIMEOUT_MS,
      checkServerIdentity: () => undefined,
    });
    const end = (isOwn: boolean): void => {
      socket.destroy();
      resolve(isOwn);
    };
    socket.once('secureConnect', () => {
      const served = socket.getPeerX509Certificate()?.fingerprint256;
      end((ca !== '' && socket.authorized) || (served !== undefined && own.includes(served)));
    });
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/** Undefined without a readable certificate: certificateFacts reports why. */
async function fingerprintOf(path: string): Promise<string | undefined> {
  try {
    return new X509Certificate(await readFile(path)).fingerprint256;
  } catch {
    return undefined;
  }
}

/** Resolves the host names in the settings. */
export function nameFacts({ advertise, etcd = '', oidcIssuerUrl }: CoordinatorSettings): Promise<NameFact[]> {
  const named: [setting: string, url: string][] = [
    ...(advertise ? [['--advertise', withHost('https://localhost:443', advertise)] as [string, string]] : []),
    ...etcd.split(',').map((url): [string, string] => ['--etcd', url.trim()]),
    ...(oidcIssuerUrl ? [['--oidc-issuer-url', oidcIssuerUrl] as [string, string]] : []),
  ];
  const names = named.flatMap(([setting, url]) => {
    const name = URL.canParse(url) ? new URL(url).hostname : '';
    return name === '' || isIP(name.replace(/^\[|\]$/g, '')) ? [] : [{ setting, name }];
  });
  return Promise.all(names.map(resolveName));
}

async function resolveName(named: { name: string; setting: string }): Promise<NameFact> {
  try {
    const found = await lookup(named.name, { all: true });
    return { ...named, addresses: found.map(({ address }) => address) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { ...named, reason: message, code };
  }
}

/** Coordinators use no proxy. Commands do, as kubectl does. */
export function proxyFact(
  settings: Pick<CoordinatorSettings, 'advertise' | 'port'>,
  environment: NodeJS.ProcessEnv,
): ProxyFact {
  const { HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy } = environment;
  try {
    const httpsProxy = readProxyUrl(HTTPS_PROXY ?? https_proxy ?? '');
    if (!httpsProxy) return { state: 'none' };
    const server = memberServer(settings);
    const isUsed = proxyFor({ httpsProxy, noProxy: NO_PROXY ?? no_proxy }, new URL(server)) !== undefined;
    return { state: 'set', proxy: shownProxy(httpsProxy), through: isUsed ? [server] : [] };
  } catch (error) {
    return { state: 'invalid', reason: error instanceof Error ? error.message : String(error) };
  }
}
