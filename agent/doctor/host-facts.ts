/** Finds out about this host what `everynode-agent doctor` reports. Changes nothing. */
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { measureDisk } from '../../shared/doctor/doctor-report.js';
import { type ProxySettings, proxyFor } from '../../shared/link/forward-proxy/proxy-settings.js';
import { tunnellingAgent, tunnelOpener } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import { ExitError } from '../../shared/process/exit-error.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { type EngineLocations, requireEngine } from '../assembly/open-runtime.js';
import type { CoordinatorFact, HostFacts, IdentityFact } from '../decisions/doctor/host-findings.js';
import { readIdentity } from '../identity/identity-file.js';
import { parseServers } from '../identity/join-coordinator.js';
import { connectTrusting, type ServerTrust } from '../link/server-trust.js';
import { NftError, runNft } from '../netfilter/nft-command.js';
import type { RuntimeChoice } from '../program/agent-settings.js';

const ANSWER_TIMEOUT_MS = 15_000;
/** Every path of a coordinator answers with its time. This one needs no credential. */
const HEALTH = '/livez';
/** A Date header has no fractions of a second. */
const RESOLUTION_MS = 1_500;

export interface DoctorSettings extends ProxySettings {
  runtime: RuntimeChoice;
  data: string;
  server?: string | undefined;
}

/** Resolves with the facts. Throws `ExitError` if `server` is not an address. */
export async function gatherHostFacts(
  { runtime, data, server, ...proxy }: DoctorSettings,
  places: EngineLocations,
  clock: Clock,
): Promise<HostFacts> {
  const { identity, trust } = await readOwnIdentity(data);
  const addresses = server ? parseServers(server) : [];
  const coordinators = addresses.map(({ server: url }) => askCoordinator(url, { trust, clock, proxy }));
  return {
    now: clock.now(),
    isRoot: process.getuid?.() === 0,
    hasSystemd: existsSync('/run/systemd/system'),
    engine: await askForEngine(runtime, places),
    cgroups: await cgroupVersion(),
    nftables: await nftables(),
    disk: await measureDisk(data),
    identity,
    coordinators: await Promise.all(coordinators),
  };
}

async function askForEngine(runtime: RuntimeChoice, places: EngineLocations): Promise<HostFacts['engine']> {
  if (runtime === 'hollow') return { answers: true, name: 'hollow', version: 'engine, runs no containers' };
  try {
    const { name, version } = await requireEngine({ runtime, ...places });
    return { answers: true, name, version };
  } catch (error) {
    return { answers: false, reason: messageOf(error) };
  }
}

async function cgroupVersion(): Promise<HostFacts['cgroups']> {
  const controllers = await readFile('/sys/fs/cgroup/cgroup.controllers', 'utf8').catch(() => '');
  if (controllers.split(/\s+/).includes('memory')) return 'v2';
  return existsSync('/sys/fs/cgroup/memory') ? 'v1' : 'none';
}

/** Checks a table in a dry run, which needs the same rights and the same kernel as a change. */
async function nftables(): Promise<HostFacts['nftables']> {
  try {
    await runNft(['--check', '--file', '-'], 'add table inet everynode-doctor\n');
    return 'works';
  } catch (error) {
    return error instanceof NftError ? error.failure : 'refused';
  }
}

interface OwnIdentity {
  identity: IdentityFact;
  /** Absent before the join. */
  trust?: ServerTrust;
}

async function readOwnIdentity(data: string): Promise<OwnIdentity> {
  try {
    const stored = await readIdentity(data);
    if (stored?.certificate === undefined) return { identity: { state: 'none' } };
    const certificateEndsAt = Date.parse(new X509Certificate(stored.certificate).validTo);
    return { identity: { state: 'joined', node: stored.node, certificateEndsAt }, trust: stored };
  } catch (error) {
    return { identity: { state: 'damaged', reason: messageOf(error) } };
  }
}

interface AskOptions {
  /** Undefined before the join. */
  trust: ServerTrust | undefined;
  clock: Clock;
  proxy: ProxySettings;
}

/**
 * Sends a request without a credential. Before the join the authority is unknown, so only reachability and the time are
 * read, and nothing of the answer is trusted.
 */
function askCoordinator(server: URL, { trust, clock, proxy }: AskOptions): Promise<CoordinatorFact> {
  const address = server.origin;
  const began = clock.now();
  const usesProxy = proxyFor(proxy, server) !== undefined;
  return new Promise((resolve) => {
    // After the tunnel is open, a failure is the coordinator's and not the proxy's.
    let isTunnelOpen = false;
    const fail = ({ message, code }: NodeJS.ErrnoException): void =>
      resolve({
        address,
        isReached: false,
        reason: message,
        code: usesProxy && !isTunnelOpen ? 'PROXY' : code,
      });
    const dial = (options: ConnectionOptions): TLSSocket => {
      isTunnelOpen = true;
      if (trust) return connectTrusting(options, trust);
      return connect({ ...options, path: undefined, rejectUnauthorized: false });
    };
    const agent = tunnellingAgent(tunnelOpener(proxy), {}, dial);
    const sent = request(new URL(HEALTH, server), { agent, timeout: ANSWER_TIMEOUT_MS });
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })));
    sent.on('error', fail);
    sent.on('response', (response) => {
      response.resume();
      const time = Date.parse(response.headers.date ?? '');
      const answeredAfter = clock.now() - began;
      const coordinatorTime = Number.isNaN(time) ? undefined : near(time, clock.now());
      resolve({ address, isReached: true, answeredAfter, clock: coordinatorTime });
    });
    sent.end();
  });
}

/** Returns `now` if the difference is within the resolution. */
function near(time: number, now: number): number {
  return Math.abs(now - time) < RESOLUTION_MS ? now : time;
}

function messageOf(error: unknown): string {
  if (error instanceof ExitError) return error.sentence;
  return error instanceof Error ? error.message : String(error);
}
