/** POST requests of a joined host to the API, with its certificate or the bearer token of its link. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Agent, request } from 'node:https';
import { tunnellingAgent } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import { ResumingTls } from '../link/resuming-tls.js';
import { connectTrusting } from '../link/server-trust.js';
import type { HostIdentity } from './host-identity.js';

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 262_144;

export type CallingIdentity = Pick<HostIdentity, 'ca' | 'key' | 'certificate' | 'bearer' | 'tunnel'>;

export interface ApiAnswer {
  code: number;
  body: unknown;
}

/** Sends one request. Rejects if there is no JSON answer. */
export type PostToCoordinator = (path: string, body: object) => Promise<ApiAnswer>;

/**
 * Returns a function for requests of this host, which share a connection: a TLS handshake costs both ends more than
 * the request. `server` returns the coordinator's current address. If a proxy terminates TLS, the link's bearer token
 * identifies the host.
 */
export function coordinatorPoster(server: () => URL, identity: CallingIdentity): PostToCoordinator {
  const connections = new IdentityConnections(identity);
  const send = async (path: string, body: object, isRepeated = false): Promise<ApiAnswer> => {
    const sent = request(new URL(path, server()), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(identity.bearer === undefined ? {} : { authorization: `Bearer ${identity.bearer}` }),
      },
      timeout: TIMEOUT_MS,
      agent: connections.agent(),
      ...proofOf(identity),
    });
    try {
      return await answerTo(sent, JSON.stringify(body));
    } catch (error) {
      // The coordinator may close a kept connection at the moment of the request, without having read it.
      const wasClosed = sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
      if (!wasClosed || isRepeated) throw error;
      return send(path, body, true);
    }
  };
  return (path, body) => send(path, body);
}

/** Connections that prove the host's current identity. */
class IdentityConnections {
  readonly #identity: CallingIdentity;
  readonly #tls: ResumingTls;
  #current: { agent: Agent; ca: string; certificate: string | undefined } | undefined;

  constructor(identity: CallingIdentity) {
    this.#identity = identity;
    this.#tls = new ResumingTls(undefined, (options) => connectTrusting(options, identity));
  }

  /** After a change of the certificate or the authorities, requests in flight end on their old connections. */
  agent(): Agent {
    const { ca, certificate, tunnel } = this.#identity;
    const current = this.#current;
    if (current && current.ca === ca && current.certificate === certificate) return current.agent;
    if (current) closeWhenIdle(current.agent);
    const options = { keepAlive: true, maxFreeSockets: 1 };
    const agent = tunnellingAgent(tunnel, options, (each) => this.#tls.connect(each));
    this.#current = { agent, ca, certificate };
    return agent;
  }
}

function closeWhenIdle(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}

function answerTo(sent: ClientRequest, body: string): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    sent.on('response', (response) => void readAnswer(response).then(resolve, reject));
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<ApiAnswer> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    text += chunk;
    if (text.length > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
  }
  return { code: response.statusCode ?? 500, body: JSON.parse(text) };
}

function proofOf({ key, certificate }: CallingIdentity): { key?: string; cert?: string } {
  return key && certificate ? { key, cert: certificate } : {};
}
