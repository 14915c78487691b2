/** Settings of an HTTP forward proxy: HTTPS_PROXY and NO_PROXY with Go's rules (golang.org/x/net/http/httpproxy). Pure. */
import { BlockList, isIP } from 'node:net';

export interface ProxySettings {
  /** Absent: every server is reached directly. */
  httpsProxy?: URL | undefined;
  /** Comma-separated exceptions: hosts, `.domains`, addresses, CIDRs, each with or without a port; `*` for all. */
  noProxy?: string | undefined;
}

/**
 * Reads `[http[s]://][USER:PASSWORD@]HOST[:PORT]`; an empty text means no proxy. Throws an Error that does not quote the
 * text, because it may contain a password.
 */
export function readProxyUrl(text: string): URL | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  const isProxy = url && /^https?:$/.test(url.protocol) && /^\/?$/.test(url.pathname) && !url.search;
  if (!isProxy || !isDecodable(url.username) || !isDecodable(url.password))
    throw new Error(
      'must be of the form http://[USER:PASSWORD@]HOST:PORT or https://…, with special characters of the password as %XX',
    );
  return url;
}

/** Checks a list of exceptions. Throws an Error for text that cannot be part of one. */
export function readNoProxy(text: string): string {
  if (!/^[\p{L}\p{N}.,:*/[\]_ -]*$/u.test(text))
    throw new Error('must be comma-separated hosts, .domains, addresses, CIDRs or *');
  return text;
}

/** Returns the proxy's address without its credentials, for errors and logs. */
export function shownProxy(proxy: URL): string {
  return `${proxy.protocol}//${proxy.host}`;
}

/** Returns the proxy for a server; undefined if it is reached directly. The machine itself never needs a proxy. */
export function proxyFor({ httpsProxy, noProxy = '' }: ProxySettings, server: URL): URL | undefined {
  if (!httpsProxy) return undefined;
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = server.port || '443';
  if (host === 'localhost' || isLoopback(host)) return undefined;
  const isExcepted = noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), host, port));
  return isExcepted ? undefined : httpsProxy;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInSubnet(entry, host);
  const [name, ownPort] = splitPort(entry);
  if (name === '' || (ownPort !== undefined && ownPort !== port)) return false;
  if (isIP(name)) return isInSubnet(`${name}/${isIP(name) === 6 ? 128 : 32}`, host);
  if (isIP(host)) return false;
  const domain = asciiName(name.replace(/^\*\./, '.'));
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

/** Splits `HOST:PORT`. An IPv6 address has brackets if a port follows. */
function splitPort(entry: string): [name: string, port: string | undefined] {
  if (isIP(entry)) return [entry, undefined];
  const { name = '', port } = /^(?<name>\[[^\]]*\]|[^:]*)(?::(?<port>.*))?$/.exec(entry)?.groups ?? {};
  return [name.replace(/^\[|\]$/g, ''), port];
}

/** Returns the name as URLs have it (IDNA). */
function asciiName(name: string): string {
  const dot = name.startsWith('.') ? '.' : '';
  const url = `https://${name.slice(dot.length)}`;
  return URL.canParse(url) ? dot + new URL(url).hostname : name;
}

/** False for a name, and for an invalid CIDR, which Go ignores as well. */
function isInSubnet(cidr: string, host: string): boolean {
  const [address = '', bits = ''] = cidr.split('/');
  const family = isIP(address);
  if (!isIP(host) || !family || !/^\d+$/.test(bits) || Number(bits) > (family === 6 ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
  return list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

function isLoopback(host: string): boolean {
  return isInSubnet('127.0.0.0/8', host) || isInSubnet('::1/128', host);
}
