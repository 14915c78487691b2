/** An agent that sends arbitrary messages and bytes, which a real link would never send. */
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { decodeFromHub, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import { CHALLENGE_HEADER, signChallenge } from '../../../shared/link/key-proof.js';
import { LINK_PROTOCOL } from '../../../shared/link/link-features.js';
import {
  type FromAgent,
  type FromHub,
  type Hello,
  LINK_PATH,
  SUBPROTOCOL,
} from '../../../shared/link/messages/link-messages.js';
import { until } from '../basics/wait-until.js';
import { certificateHeader } from './fixture-host-keys.js';
import type { HubFixture } from './hub-fixture.js';

export interface RawAgent {
  socket: WebSocket;
  received: FromHub[];
  /** The close code once the connection is closed. */
  closed?: number;
  send(message: FromAgent): void;
  /** Sends bytes unchanged. */
  sendRaw(frame: Uint8Array): void;
  /** Waits for the first message of this kind and returns it. */
  waitFor<K extends FromHub['kind']>(kind: K): Promise<Extract<FromHub, { kind: K }>>;
}

/** Returns a hello without objects. */
export function helloOf(node: string, more: Partial<Hello> = {}): Hello {
  return {
    kind: 'hello',
    node,
    bootID: 'b',
    instanceID: `raw-${node}`,
    agentVersion: '0.1.0',
    features: [],
    revision: 0,
    objects: [],
    register: { labels: {}, taints: [] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
    hostTimeMs: 0,
    ...more,
  };
}

/**
 * Connects without a hello. `autoPong: false` leaves pings unanswered, like a half-open connection. `protocols`: offered
 * in the TLS handshake, if the hub has one.
 */
export async function rawAgent(
  fixture: HubFixture,
  node: string,
  autoPong = true,
  protocols: readonly string[] = [LINK_PROTOCOL],
): Promise<RawAgent> {
  const host = await fixture.hostKey(node);
  const socket = new WebSocket(`${fixture.origin}${LINK_PATH}`, SUBPROTOCOL, {
    ...(fixture.ca ? { ca: fixture.ca, ALPNProtocols: protocols } : {}),
    headers: certificateHeader(host),
    autoPong,
  });
  const agent: RawAgent = {
    socket,
    received: [],
    send: (message) => socket.send(encodeMessage(message)),
    sendRaw: (frame) => socket.send(frame),
    waitFor: async (kind) => {
      const find = () => agent.received.find((message) => message.kind === kind);
      await until(() => find() !== undefined || `heard ${agent.received.map((each) => each.kind)}`);
      return find() as never;
    },
  };
  socket.on('message', (data) => agent.received.push(decodeFromHub(data as Buffer)));
  socket.on('error', () => undefined);
  socket.on('close', (code) => {
    agent.closed = code;
  });
  const upgraded = new Promise<IncomingMessage>((resolve) => socket.once('upgrade', resolve));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const nonce = String((await upgraded).headers[CHALLENGE_HEADER]);
  socket.send(signChallenge(host.key, { clusterUID: fixture.controlPlane.store.clusterUID(), node, nonce }));
  return agent;
}
