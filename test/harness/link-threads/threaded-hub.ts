/** A hub whose links end in a thread, with an API on the same port. */
import assert from 'node:assert/strict';
import { DEFAULT_LIMITS } from '../../../coordinator/api/http/tls-options.js';
import type { AgentLink } from '../../../coordinator/api/ports.js';
import type { Hub } from '../../../coordinator/hub/hub.js';
import { LinkThreads } from '../../../coordinator/link-threads/link-threads.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { sharedPki, startTestApi, type TestApi } from '../api/api-fixture.js';
import { MemoryAuditLog } from '../api/audit-memory.js';
import { type HubFixture, type HubPort, withHub } from '../hub/hub-fixture.js';

/** The API as clients of the threads' port reach it. */
export interface ThroughThreads extends Pick<TestApi, 'port' | 'pki'> {
  threads: LinkThreads;
  audit: MemoryAuditLog;
  /** Returns how many links the main thread has terminated. */
  upgradesInMain(): number;
}

/** Registers a test twice: with links that end in the main thread, and with links that end in a link thread. */
export function withEachHub(rule: string, check: (fixture: HubFixture) => Promise<void>): void {
  withHub(rule, check);
  withThreadedHub(`${rule} (link thread)`, async (fixture, { upgradesInMain }) => {
    await check(fixture);
    assert.equal(upgradesInMain(), 0, 'links that the main thread has terminated');
  });
}

/** Registers a test like `withHub`. One thread, because Node.js 20 cannot share a port. */
export function withThreadedHub(
  rule: string,
  check: (fixture: HubFixture, through: ThroughThreads) => Promise<void>,
): void {
  let through: ThroughThreads | undefined;
  const serve = async (hub: Hub): Promise<HubPort> => {
    const { close, ...opened } = await serveOverThreads(hub);
    through = opened;
    const { port, pki } = opened;
    return { port, origin: `wss://127.0.0.1:${port}`, ca: pki.ca.cert, close };
  };
  const checkBoth = async (fixture: HubFixture) => {
    if (!through) throw new Error('the hub is not served');
    await check(fixture, through);
  };
  withHub(rule, checkBoth, undefined, silentLogger, serve);
}

async function serveOverThreads(hub: Hub): Promise<ThroughThreads & { close: () => Promise<void> }> {
  const pki = await sharedPki();
  const tls = { ...pki.serving, clientAuthorities: pki.ca.cert };
  const { upgrader } = hub;
  const common = { tls, clock: systemClock, log: silentLogger };
  const peers = { report: () => undefined };
  const threads = new LinkThreads({ ...common, count: 1, upgrader, peers, limits: DEFAULT_LIMITS });
  const audit = new MemoryAuditLog();
  let upgrades = 0;
  const agentLink: AgentLink = {
    join: (joining) => hub.join(joining),
    certify: (joining) => hub.certify(joining),
    handleUpgrade: (...upgrade) => {
      upgrades += 1;
      hub.handleUpgrade(...upgrade);
    },
  };
  const api = await startTestApi({ agentLink, forwarding: threads.forwarding, audit });
  const port = await threads.listen({ host: '127.0.0.1', port: 0, apiPort: api.port });
  const close = async () => {
    await api.stop();
    await threads.close();
  };
  return { port, pki, threads, audit, upgradesInMain: () => upgrades, close };
}
