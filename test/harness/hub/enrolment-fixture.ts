/** The API's port with a hub behind it, and hosts that join it like real agents. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CertificateRenewer } from '../../../agent/identity/certificate-renewer.js';
import { openCoordinatorAddresses } from '../../../agent/identity/coordinator-address-file.js';
import { HostIdentity } from '../../../agent/identity/host-identity.js';
import { type JoinOptions, joinCoordinator } from '../../../agent/identity/join-coordinator.js';
import { Link } from '../../../agent/link/link.js';
import { Outbox } from '../../../agent/link/outbox.js';
import type { AuditLog } from '../../../coordinator/api/audit/audit-file.js';
import { Hub, type HubOptions } from '../../../coordinator/hub/hub.js';
import {
  type JoinToken,
  newJoinToken,
  tokenSecret,
} from '../../../coordinator/hub/identity/new-join-token.js';
import { ObjectSigner } from '../../../coordinator/hub/restore/object-signer.js';
import { NodeLiveness } from '../../../coordinator/hub/sessions/node-liveness.js';
import { createInformers } from '../../../coordinator/informers/create-informers.js';
import { ALL_KINDS, certificateSigningRequestKind, secretKind } from '../../../coordinator/kinds/index.js';
import { certificateUsers, linkUsers } from '../../../coordinator/open-identities.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { type Logger, silentLogger } from '../../../shared/process/output/logger.js';
import { type Clock, monotonicClock, systemClock } from '../../../shared/process/time/clock.js';
import { systemRandom } from '../../../shared/process/time/random.js';
import { startTestApi, testIdentities } from '../api/api-fixture.js';
import { testAuthority } from '../api/test-authority.js';
import { temporaryDirectory } from '../basics/temporary-directory.js';
import { MemoryStore } from '../controllers/memory-store.js';
import { TestAgent } from './hub-fixture.js';

interface EnrolmentFixtureOptions
  extends Partial<Pick<HubOptions, 'approveNodes' | 'recordEvent' | 'authority' | 'coordinators'>> {
  log?: Logger;
  audit?: AuditLog;
}

export type EnrolmentFixture = Awaited<ReturnType<typeof startEnrolment>>;

/** Starts API and hub on one TLS port, with a join token. `shiftMs` moves the coordinator's clock. */
export async function startEnrolment(context: TestContext, change: EnrolmentFixtureOptions = {}) {
  const time = { shiftMs: 0 };
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + time.shiftMs };
  const parts = { clock, log: change.log ?? silentLogger };
  const store = new MemoryStore();
  const registry = createRegistry({ store, kinds: ALL_KINDS, ...parts });
  const informers = createInformers({ registry, ...parts });
  const hub = new Hub({
    registry,
    informers,
    liveness: new NodeLiveness(systemClock, { graceMs: 40_000, returnMs: 60_000 }),
    clusterUID: store.clusterUID(),
    epoch: store.epoch(),
    signer: new ObjectSigner(Buffer.alloc(32), { epoch: store.epoch(), pastEpochs: [] }),
    authority: await testAuthority(clock),
    recordEvent: { asNodeController: () => undefined, asAgent: () => undefined },
    ...change,
    ...parts,
  });
  const api = await startTestApi({
    registry,
    agentLink: hub,
    identities: await testIdentities(registry, informers, [linkUsers(hub)]),
    authenticateSocket: certificateUsers(hub, clock),
    log: parts.log,
    ...(change.audit ? { audit: change.audit } : {}),
  });
  context.after(async () => {
    // The port closes only after the hub has closed its sockets.
    await hub.stop();
    await api.stop();
    await informers.stop();
  });
  const token = newJoinToken();
  await registry.create(secretKind, 'kube-system', tokenSecret(token));
  const text = ({ id, secret }: JoinToken, hash = api.pki.caHash) => `${id}.${secret}.${hash}`;
  const options = (more: Partial<JoinOptions> = {}): JoinOptions => ({
    dataDir: temporaryDirectory(),
    server: api.url,
    node: 'n1',
    token: text(token),
    ...more,
  });
  /** Starts a host like agent/program/agent-main.ts, with certificate renewal. It connects at once. */
  const host = async (enrolled: JoinOptions, labels: Record<string, string> = { zone: 'a' }) => {
    const enrolment = await joinCoordinator(enrolled);
    const addresses = await openCoordinatorAddresses(
      enrolled.dataDir,
      enrolled.server.split(','),
      silentLogger,
    );
    const identity = new HostIdentity(addresses, enrolled.dataDir, enrolment);
    const steady = monotonicClock(systemClock);
    const log = silentLogger;
    const keeper = new CertificateRenewer({
      identity,
      server: () => addresses.server,
      clock: steady,
      random: systemRandom,
      log,
      pollIntervalMs: 20,
    });
    const agent = new TestAgent({});
    agent.labels = labels;
    const link = new Link({
      target: identity,
      certificates: keeper,
      identity: { node: enrolled.node, bootID: 'b', instanceID: enrolled.dataDir, agentVersion: '0.1.0' },
      delegate: agent,
      outbox: new Outbox({ clock: steady }),
      clock: steady,
      log,
      random: () => 0,
    });
    link.start();
    context.after(() => {
      keeper.stop();
      link.stop();
    });
    return { identity, keeper, link, agent };
  };
  return { store, registry, hub, api, token, text, options, host, time, informers };
}

/** Acts as `kubectl certificate approve` or `deny`, on the only request or on the one with this name. */
export async function decide(registry: Registry, type: 'Approved' | 'Denied', name?: string): Promise<void> {
  const { records } = await registry.list(certificateSigningRequestKind);
  const request = records
    .map((record) => record.object())
    .find(({ metadata }) => !name || metadata.name === name);
  const time = toTimestamp(Date.now());
  const condition = { type, status: 'True', reason: 'Test', lastUpdateTime: time } as const;
  await registry.modify(
    certificateSigningRequestKind,
    { name: request?.metadata.name ?? '' },
    (each) => {
      each.status = { ...each.status, conditions: [...(each.status?.conditions ?? []), condition] };
      return undefined;
    },
    { subresource: 'approval' },
  );
}

/** Returns the path of an agent's identity file. */
export function identityFile({ dataDir }: { dataDir: string }): string {
  return join(dataDir, 'identity.json');
}
