/** Tunnels through an HTTP forward proxy (CONNECT, RFC 9110 9.3.6). TLS to the server runs inside of them. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent, type AgentOptions, request as requestHttps } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { type Clock, systemClock } from '../../process/time/clock.js';
import { type ProxySettings, proxyFor, shownProxy } from './proxy-settings.js';

/** Timeout of a tunnel: the connection to the proxy, and from there to the server. */
const TIMEOUT_MS = 15_000;

/** Returns a connection that a tunnel to the server must carry; undefined: connect directly. Rejects with its reason. */
export type OpenTunnel = (server: URL, timeoutMs?: number) => Promise<Socket> | undefined;

/** Options of a connection by `createConnection` of `http`, and its callback. */
type Done = (error: Error | null, socket?: Socket) => void;

/** Returns undefined if the settings name no proxy. */
export function tunnelOpener(settings: ProxySettings, clock: Clock = systemClock): OpenTunnel | undefined {
  if (!settings.httpsProxy) return undefined;
  return (server, timeoutMs = TIMEOUT_MS) => {
    const proxy = proxyFor(settings, server);
    return proxy && openTunnel(proxy, server, clock, timeoutMs);
  };
}

/** For a proxy that all servers need. */
export function tunnelOpenerOf(proxy: URL): OpenTunnel {
  return (server, timeoutMs = TIMEOUT_MS) => openTunnel(proxy, server, systemClock, timeoutMs);
}

/**
 * Returns a `createConnection` for requests to a server. `dial` replaces `tls.connect`; through a proxy its options have
 * the tunnel as `socket`. `timeoutMs` limits the tunnel.
 */
export function dialThrough<S extends Socket>(
  open: OpenTunnel | undefined,
  dial: (options: ConnectionOptions) => S,
  timeoutMs?: number,
): (options: ConnectionOptions, done: Done) => S | undefined {
  return (options, done) => {
    const tunnel = open?.(serverOf(options), timeoutMs);
    if (!tunnel) return dial(options);
    tunnel.then((socket) => done(null, dial({ ...options, socket }))).catch(done);
    return undefined;
  };
}

/** Returns an agent for `https` whose connections may go through a proxy. `dial` replaces `tls.connect`. */
export function tunnellingAgent(
  open: OpenTunnel | undefined,
  options: AgentOptions,
  dial?: (options: ConnectionOptions) => Socket,
): Agent {
  const agent = new Agent(options);
  if (!open && !dial) return agent;
  // The declared type lacks the callback, by which Node accepts connections that take time.
  return Object.assign(agent, { createConnection: dialThrough(open, dial ?? dialTls) }) as Agent;
}

/** https sets `path` to the URL's path, which tls would use as a Unix socket. */
function dialTls(options: ConnectionOptions): Socket {
  return connect({ ...options, path: undefined });
}

function serverOf({ host = '', port = 443 }: ConnectionOptions): URL {
  return new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`);
}

function openTunnel(proxy: URL, server: URL, clock: Clock, timeoutMs: number): Promise<Socket> {
  const target = `${server.hostname}:${server.port || 443}`;
  const shown = shownProxy(proxy);
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const send = proxy.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = send({
      // The URL itself would also pass on its credentials, in a second form.
      host,
      // By default the certificate of the proxy would have to name the host of the header, which is the server.
      servername: isIP(host) ? '' : host,
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...authorizationOf(proxy) },
      agent: false,
    });
    const timer = clock.after(timeoutMs, () => sent.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)));
    sent.once('connect', (response, socket: Socket, head) => {
      timer.cancel();
      const refusal = refusalOf(response);
      if (refusal !== undefined) {
        socket.destroy();
        reject(new Error(`the proxy ${shown} refused a tunnel to ${target}: ${refusal}`));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      timer.cancel();
      // If several addresses of the proxy failed, the error has no message, only the first one's code.
      const why = error.message || error.code;
      reject(new Error(`no tunnel to ${target} through the proxy ${shown}: ${why}`, { cause: error }));
    });
    sent.end();
  });
}

/** Returns why the proxy opened no tunnel. Its text is that of any server: it is cut. */
function refusalOf({ statusCode = 0, statusMessage = '' }: IncomingMessage): string | undefined {
  if (statusCode >= 200 && statusCode < 300) return undefined;
  const status = `status ${statusCode} ${statusMessage}`.trim().slice(0, 100);
  if (statusCode === 407) return `${status} (check the user and the password in HTTPS_PROXY)`;
  if (statusCode === 403) return `${status} (the proxy has to allow CONNECT to this address and port)`;
  return status;
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
