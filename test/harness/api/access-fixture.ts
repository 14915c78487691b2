/** An API that authorizes by roles. It has running informers and the built-in roles, and a test can add users. */
import assert from 'node:assert/strict';
import type { Identities } from '../../../coordinator/access/identities.js';
import type { ApiServerOptions } from '../../../coordinator/api/http/api-server.js';
import { ensureBuiltInRoles } from '../../../coordinator/controllers/access/built-in-roles.js';
import { RoleAggregation } from '../../../coordinator/controllers/access/role-aggregation.js';
import { createInformers } from '../../../coordinator/informers/create-informers.js';
import type { Informers } from '../../../coordinator/informers/informer.js';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { PolicyRule, UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { until } from '../basics/wait-until.js';
import { MemoryStore } from '../controllers/memory-store.js';
import { startTestApi, type TestApi, testIdentities } from './api-fixture.js';
import { type CallAnswer, call } from './https-call.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

export interface AccessFixture {
  registry: Registry;
  identities: Identities;
  api: TestApi;
  /** Registers a user and returns their bearer token, `TOKEN:NAME`. */
  admit(user: UserInfo): string;
  /** Sends one request as that user. */
  as(user: UserInfo, line: string, body?: unknown, headers?: Record<string, string>): Promise<CallAnswer>;
  /** Grants the user these rules in all namespaces. */
  grantRules(user: UserInfo, rules: PolicyRule[]): Promise<void>;
  /** Sends one request that must succeed. Resolves when the authorizer has seen its result. */
  asAdmin(line: string, body: unknown): Promise<void>;
  /** Binds a role in the namespace default. */
  bindRole(name: string, ref: ReturnType<typeof roleRef>, subject: object): Promise<void>;
  /** Resolves when the authorizer has seen every stored role. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Returns an authenticated user. */
export function person(username: string, ...groups: string[]): UserInfo {
  return { username, groups: [...groups, 'system:authenticated'] };
}

/** The rights of a caller of plans who may read everything. */
export const READS_ALL = { mayRead: () => true, requireRead: () => undefined };

/** The role reference of a binding. */
export function roleRef(kind: string, name: string) {
  return { apiGroup: 'rbac.authorization.k8s.io', kind, name };
}

/** Components of the fixture, for tests of an API that reads the same objects. */
export interface AccessFixtureDeps {
  registry: Registry;
  informers: Informers;
  clock: typeof systemClock;
  log: typeof silentLogger;
}

type Change = Partial<ApiServerOptions>;

/** Starts the fixture on a free port. */
export async function startAccessFixture(
  change: Change | ((parts: AccessFixtureDeps) => Change) = {},
): Promise<AccessFixture> {
  const parts = { clock: systemClock, log: silentLogger };
  const store = new MemoryStore();
  const registry = createRegistry({ store, kinds: ALL_KINDS, ...parts });
  const informers = createInformers({ registry, ...parts });
  const aggregation = new RoleAggregation({ registry, informers, ...parts });
  const users = new Map<string, UserInfo>();
  const identities = await testIdentities(registry, informers, [(token) => users.get(token)]);
  const changed = typeof change === 'function' ? change({ registry, informers, ...parts }) : change;
  const api = await startTestApi({ registry, identities, ...changed });
  await ensureBuiltInRoles(registry);
  const settled = async () => informers.waitFor(await store.revision());
  const adminHasAll = () => (informers.clusterRoles.get({ name: 'admin' })?.rules?.length ?? 0) > 12;
  await until(adminHasAll, { timeoutMs: 10_000, what: 'the built-in roles to be gathered' });
  const asAdmin = async (line: string, body: unknown) => {
    const answer = await call(api, line, { body });
    assert.ok(answer.code < 300, answer.text);
    await settled();
  };
  const admit = (user: UserInfo) => {
    users.set(`token:${user.username}`, user);
    return `token:${user.username}`;
  };
  return {
    registry,
    identities,
    api,
    admit,
    as: (user, line, body, headers = {}) => call(api, line, { token: admit(user), body, headers }),
    grantRules: async (user, rules) => {
      const name = `of-${user.username}`;
      await asAdmin(`POST ${RBAC}/clusterroles`, { metadata: { name }, rules });
      await asAdmin(`POST ${RBAC}/clusterrolebindings`, {
        metadata: { name },
        roleRef: roleRef('ClusterRole', name),
        subjects: [{ kind: 'User', name: user.username }],
      });
    },
    asAdmin,
    bindRole: (name, ref, subject) =>
      asAdmin(`POST ${RBAC}/namespaces/default/rolebindings`, {
        metadata: { name },
        roleRef: ref,
        subjects: [subject],
      }),
    settled,
    stop: async () => {
      await api.stop();
      await aggregation.stop();
      await informers.stop();
      await store.close();
    },
  };
}
