/** Reads the settings of etcd. */
import type { EtcdAccess } from '../etcd-access.js';
import { EtcdRefused } from './etcd-refused.js';

export interface EtcdSettings {
  /** Comma-separated URLs. */
  readonly etcd: string;
  readonly etcdCa?: string | undefined;
  readonly etcdCert?: string | undefined;
  readonly etcdKey?: string | undefined;
}

const DEFAULT_PORT = '2379';
const ADDRESS = /^(https?):\/\/(\[[0-9a-f:]+\]|[^\s/:?#@[\]]+)(?::([0-9]{1,5}))?\/?$/i;
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/i;

/** Throws EtcdRefused `usage`. Reads no file. */
export function readEtcdSettings({ etcd, etcdCa, etcdCert, etcdKey }: EtcdSettings): EtcdAccess {
  const addresses = etcd.split(',').flatMap((text) => (text.trim() === '' ? [] : [readAddress(text.trim())]));
  const [first] = addresses;
  if (!first) throw new EtcdRefused('usage', '--etcd names no address: expected https://HOST:PORT,…');
  const other = addresses.find(({ scheme }) => scheme !== first.scheme);
  if (other)
    throw new EtcdRefused('usage', `--etcd mixes http and https: ${first.endpoint} and ${other.endpoint}`);
  const endpoints = [...new Set(addresses.map(({ endpoint }) => endpoint))];
  const files = { '--etcd-ca': etcdCa, '--etcd-cert': etcdCert, '--etcd-key': etcdKey };
  if (first.scheme === 'http') {
    const unused = Object.entries(files).find(([, path]) => path !== undefined);
    if (unused) throw new EtcdRefused('usage', `${unused[0]} has no effect with http: use https in --etcd`);
    return { endpoints, isSecure: false };
  }
  if (etcdCa === undefined || etcdCert === undefined || etcdKey === undefined) {
    const missing = Object.entries(files).filter(([, path]) => path === undefined);
    const names = missing.map(([name]) => name).join(' and ');
    throw new EtcdRefused('usage', `--etcd with https also needs ${names}`);
  }
  return { endpoints, isSecure: true, caFile: etcdCa, certFile: etcdCert, keyFile: etcdKey };
}

function readAddress(text: string): { scheme: string; endpoint: string } {
  const [, scheme = '', host = '', port = DEFAULT_PORT] = ADDRESS.exec(text) ?? [];
  if (!host || Number(port) < 1 || Number(port) > 65_535)
    throw new EtcdRefused('usage', `--etcd: '${text}' is not an address like https://HOST:${DEFAULT_PORT}`);
  const lower = scheme.toLowerCase();
  if (lower === 'http' && !LOOPBACK.test(host))
    throw new EtcdRefused(
      'usage',
      `--etcd: ${text} has no TLS, so anybody on the network could change the fleet: use https`,
    );
  return { scheme: lower, endpoint: `${lower}://${host}:${port}` };
}
