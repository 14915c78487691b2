/** An agent's link to a hub that sends only the messages of the test. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { Link } from '../../../agent/link/link.js';
import { Outbox } from '../../../agent/link/outbox.js';
import { decodeFromAgent, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import {
  type FromAgent,
  type FromHub,
  LINK_PATH,
  type Welcome,
} from '../../../shared/link/messages/link-messages.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { until } from '../basics/wait-until.js';
import { TestAgent } from './hub-fixture.js';

/** The welcome of the fleet `fleet`. */
export const WELCOME: Welcome = {
  kind: 'welcome',
  features: [],
  clusterUID: 'fleet',
  epoch: 'epoch-1',
  heartbeatIntervalMs: 10_000,
  reconnectSpreadMs: 3_000,
  serverTimeMs: 0,
  node: { metadata: { name: 'n1', uid: 'node-uid' } },
};

/** One connection as seen by the scripted hub. */
export interface AgentConnection {
  socket: WebSocket;
  request: IncomingMessage;
  received: FromAgent[];
  pings: number;
  send(message: FromHub): void;
  waitFor<K extends FromAgent['kind']>(kind: K): Promise<Extract<FromAgent, { kind: K }>>;
}

export interface LinkFixture {
  agent: TestAgent;
  link: Link;
  clock: ManualClock;
  connections: AgentConnection[];
  /** Resolves with the next connection after its hello. */
  nextConnection(): Promise<AgentConnection>;
}

/** Registers a test of a link with the credential `secret` and a jitter of 0.5, to a silent hub. */
export function withLink(
  rule: string,
  check: (scene: LinkFixture) => Promise<void>,
  options: { autoPong?: boolean; clusterUID?: string; random?: () => number } = {},
): void {
  test(rule, async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ server, ...options, path: LINK_PATH });
    const seen: AgentConnection[] = [];
    sockets.on('connection', (socket, request) => seen.push(connectionSeen(socket, request)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const clock = new ManualClock(1_000_000);
    const agent = new TestAgent({ ...(options.clusterUID && { clusterUID: options.clusterUID }) });
    const { port } = server.address() as AddressInfo;
    const link = new Link({
      target: { url: `ws://127.0.0.1:${port}${LINK_PATH}` },
      identity: { node: 'n1', bootID: 'b', instanceID: 'i', agentVersion: '0.1.0' },
      delegate: agent,
      outbox: new Outbox({ clock }),
      clock,
      log: silentLogger,
      random: options.random ?? (() => 0.5),
    });
    agent.link = link;
    let taken = 0;
    const next = async () => {
      await until(() => seen.length > taken);
      taken += 1;
      const connection = seen[taken - 1];
      assert.ok(connection);
      await connection.waitFor('hello');
      return connection;
    };
    try {
      link.start();
      await check({ agent, link, clock, connections: seen, nextConnection: next });
    } finally {
      link.stop();
      for (const { socket } of seen) socket.terminate();
      sockets.close();
      server.close();
    }
  });
}

function connectionSeen(socket: WebSocket, request: IncomingMessage): AgentConnection {
  const connection: AgentConnection = {
    socket,
    request,
    received: [],
    pings: 0,
    send: (message) => socket.send(encodeMessage(message)),
    waitFor: async (kind) => {
      const find = () => connection.received.find((message) => message.kind === kind);
      await until(() => find() !== undefined);
      return find() as never;
    },
  };
  socket.on('message', (data) => connection.received.push(decodeFromAgent(data as Buffer)));
  socket.on('ping', () => {
    connection.pings += 1;
  });
  socket.on('error', () => undefined);
  return connection;
}
