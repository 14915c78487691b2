/**
 * A whole fleet reconnects at once, each host with its certificate: the coordinator's overhead over TLS until it has
 * identified the host.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requestCertificate } from '../../../agent/identity/coordinator-client.js';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { trustCoordinator } from '../../../agent/identity/join-coordinator.js';
import { simulatedHostKey } from '../../../agent/simulate/hollow-host.js';
import { JOIN_PATH } from '../../../shared/link/messages/link-messages.js';
import type { BenchContext } from '../bench-section.js';
import { HollowFleet } from '../hollow/hollow-fleet.js';
import { ProcessCost } from '../server-cost.js';
import type { ClientsOrder, HostCertificate, Visit } from './returning-clients.js';

const JOINING_AT_ONCE = 16;
const ROUNDS = 5;

interface Server {
  port: number;
  ca: string;
  cost: ProcessCost;
}

export async function measureLinks(bench: BenchContext): Promise<void> {
  const hosts = bench.quick ? 150 : 500;
  const folder = mkdtempSync(join(tmpdir(), 'enlinks-'));
  const children: ChildProcess[] = [];
  const product = await HollowFleet.start(join(folder, 'product'), hosts);
  try {
    bench.progress(`${hosts} hosts join`);
    const certificates = await enrolAll(product, hosts);
    const floor = await bareServer(folder, children);
    const clients = fork(program('returning-clients'));
    children.push(clients);
    await ask(clients, { kind: 'hosts', hosts: certificates });
    const ca = readFileSync(join(folder, 'product/pki/ca.crt'), 'utf8');
    const ours = { port: product.port, ca, cost: product.cost };
    for (const withTickets of [false, true])
      await measureVisits(bench, clients, { floor, ours, hosts, withTickets });
  } finally {
    for (const child of children) child.disconnect();
    await product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Plan {
  floor: Server;
  ours: Server;
  hosts: number;
  withTickets: boolean;
}

async function measureVisits(
  { report, progress }: BenchContext,
  clients: ChildProcess,
  { floor, ours, hosts, withTickets }: Plan,
): Promise<void> {
  const cpu = { floor: [] as number[], product: [] as number[] };
  const rate = { floor: [] as number[], product: [] as number[] };
  const how = withTickets ? 'with the ticket of their last time' : 'anew';
  progress(`they connect, ${how}`);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [side, server] of [['floor', floor] as const, ['product', ours] as const]) {
      const { port, ca, cost } = server;
      let visit: Visit = { ms: 0, resumed: 0 };
      const spent = await cost.during(async () => {
        visit = await ask(clients, { kind: 'visit', port, ca, withTickets });
      });
      if (withTickets && visit.resumed < hosts)
        progress(`${side}: ${visit.resumed} of ${hosts} were resumed`);
      cpu[side].push((spent * 1000) / hosts);
      rate[side].push((hosts * 1000) / visit.ms);
    }
  }
  const name = `${hosts} hosts with certificates connect ${how}`;
  report({
    ...{ section: 'links', number: '11', name, unit: 'µs CPU a link', ...cpu },
    goal: { kind: 'ratio', most: 1.5 },
  });
  report({ section: 'links', name: `${name}, both ends on the same cores`, unit: 'links a second', ...rate });
}

/** Creates keys and certificates for `count` nodes. */
async function enrolAll(product: HollowFleet, count: number): Promise<HostCertificate[]> {
  const { server, token } = await product.reusableToken();
  const coordinator = await trustCoordinator(server, token);
  const certificates: HostCertificate[] = [];
  const left = Array.from({ length: count }, (_, index) => `node-${index}`).values();
  const enrolEach = async (): Promise<void> => {
    for (const node of left) {
      const key = simulatedHostKey(token, node);
      const csr = await certificateRequest(key, node);
      const answer = await requestCertificate(coordinator, JOIN_PATH, { node, csr });
      if (answer.state !== 'joined' || !answer.certificate) throw new Error(`${node} was not admitted`);
      certificates.push({ key, certificate: answer.certificate });
    }
  };
  await Promise.all(Array.from({ length: JOINING_AT_ONCE }, enrolEach));
  return certificates;
}

async function bareServer(folder: string, children: ChildProcess[]): Promise<Server> {
  const own = join(folder, 'floor');
  mkdirSync(own);
  const cost = new ProcessCost(join(own, 'probe'));
  const authority = join(folder, 'product/pki/ca.crt');
  const server = fork(program('bare-server'), [own, authority], {
    env: { ...process.env, ...cost.environment },
  });
  children.push(server);
  const [ready] = (await once(server, 'message')) as [Omit<Server, 'cost'>];
  return { ...ready, cost };
}

async function ask(clients: ChildProcess, order: ClientsOrder): Promise<Visit> {
  const answer = once(clients, 'message');
  clients.send(order);
  return ((await answer) as [Visit])[0];
}

function program(name: string): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}
