/** An agent that says what the test wants, bytes included: for everything a real link would never do. */
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { decodeFromHub, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import { CHALLENGE_HEADER, signChallenge } from '../../../shared/link/key-proof.js';
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
  /** Close code, once closed. */
  closed?: number;
  send(message: FromAgent): void;
  /** Sends bytes as they are. */
  sendRaw(frame: Uint8Array): void;
  /** The first message of this kind, waited for. */
  waitFor<K extends FromHub['kind']>(kind: K): Promise<Extract<FromHub, { kind: K }>>;
}

/** A hello with nothing in it. */
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

/** Connects without a hello. `autoPong: false` makes it as deaf as a half-open connection. */
export async function rawAgent(bench: HubFixture, node: string, autoPong = true): Promise<RawAgent> {
  const host = await bench.hostKey(node);
  const socket = new WebSocket(`ws://127.0.0.1:${bench.port}${LINK_PATH}`, SUBPROTOCOL, {
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
  socket.send(signChallenge(host.key, { clusterUID: bench.controlPlane.store.clusterUID(), node, nonce }));
  return agent;
}
