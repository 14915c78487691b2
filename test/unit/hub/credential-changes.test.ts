/**
 * A session is closed when its credential changes, whichever comes first: the registration of the session, the change in
 * the store, or the change in the cache.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base64 } from '../../../coordinator/hub/identity/new-join-token.js';
import { NodeChangeHandler } from '../../../coordinator/hub/sessions/node-change-handler.js';
import type { Session } from '../../../coordinator/hub/sessions/session.js';
import type { ObjectChange } from '../../../coordinator/informers/informer.js';
import { credentialSecretName } from '../../../shared/kube/nodes/node-credential-secret.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';

type Deps = ConstructorParameters<typeof NodeChangeHandler>[0];

const secretOf = (hash: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: credentialSecretName('n1'), namespace: 'kube-system' },
  type: 'everynode.io/node-credential',
  data: { key: base64(hash) },
});

/** A handler with one node. The store and the cache change separately. */
function newHandler(hash: string) {
  const state = {
    ...{ stored: hash as string | undefined, cached: hash as string | undefined, storeReads: 0 },
    /** Resolves when the cache has its first list. */
    synced: Promise.resolve(),
    isReadable: true,
  };
  const sessions = new Set<Session>();
  const goodbyes: string[] = [];
  let live: Session | undefined;
  let onSecret: (change: ObjectChange<Secret>) => void = () => undefined;
  const secrets = {
    get: () => state.cached && secretOf(state.cached),
    synced: () => state.synced,
    onChange: (handler: typeof onSecret) => {
      onSecret = handler;
    },
  };
  const deps = {
    informers: { secrets, nodes: { onChange: () => undefined } },
    liveness: { stopAwaiting: () => undefined },
    live: { get: () => live && { session: live } },
    sessions,
    credentials: {
      get: async () => {
        state.storeReads += 1;
        if (!state.isReadable) throw new Error('the store is closed');
        return state.stored && { hash: state.stored };
      },
    },
    log: silentLogger,
  };
  const handler = new NodeChangeHandler(deps as unknown as Deps);
  handler.start();
  const register = async (name: string, keyHash: string) => {
    const goodbye = ({ message }: { message: string }) => void goodbyes.push(`${name}: ${message}`);
    const session = { node: 'n1', keyHash, goodbye } as unknown as Session;
    sessions.add(session);
    await handler.recheckCredential(session);
    return session;
  };
  const setCache = async (reached: string | undefined) => {
    const previous = state.cached === undefined ? {} : { previous: secretOf(state.cached) };
    state.cached = reached;
    onSecret({ ...previous, ...(state.cached === undefined ? {} : { current: secretOf(state.cached) }) });
    await new Promise(setImmediate);
  };
  /** The cache gets the state of the store, or an earlier one. */
  const updateCache = (reached = state.stored) => setCache(reached);
  const setLive = (session: Session) => {
    live = session;
  };
  return { state, goodbyes, register, setCache, updateCache, setLive };
}

test('a session whose credential is in the cache reads no store', async () => {
  const { state, goodbyes, register, updateCache, setLive } = newHandler('a');
  setLive(await register('first', 'a'));
  await updateCache();
  assert.deepEqual([state.storeReads, goodbyes], [0, []]);
});

test('a session is kept while the cache does not show its credential yet', async () => {
  const { state, goodbyes, register, updateCache } = newHandler('a');
  state.stored = 'b';
  await register('rejoined', 'b');
  await updateCache();
  assert.deepEqual(goodbyes, []);
  state.stored = undefined;
  await updateCache();
  assert.deepEqual(goodbyes, ['rejoined: the credential of this node was revoked']);
});

test('a revocation closes a session that was registered before or after it', async () => {
  const { state, goodbyes, register, updateCache } = newHandler('a');
  state.stored = undefined;
  await register('before', 'a');
  assert.deepEqual(goodbyes, [], 'the cache does not show it yet');
  await updateCache();
  await register('after', 'a');
  assert.deepEqual(
    goodbyes,
    ['before', 'after'].map((name) => `${name}: the credential of this node was revoked`),
  );
});

test('a replaced credential closes an older session next to the live one', async () => {
  const { state, goodbyes, register, updateCache, setLive } = newHandler('a');
  state.stored = 'b';
  setLive(await register('live', 'b'));
  await register('older', 'a');
  await updateCache();
  assert.deepEqual(goodbyes, ['older: this node has a newer credential']);
});

test('an outdated change does not close a session with the newest credential', async () => {
  const { state, goodbyes, register, updateCache } = newHandler('a');
  state.stored = 'c';
  await register('newest', 'c');
  await updateCache('b');
  assert.deepEqual(goodbyes, []);
});

test('a host that joined again keeps its link when the cache learns of the deletion in between', async () => {
  const { state, goodbyes, register, setCache, updateCache } = newHandler('a');
  state.stored = 'b';
  await register('rejoined', 'b');
  await setCache(undefined);
  assert.deepEqual(goodbyes, []);
  await updateCache();
  assert.deepEqual(goodbyes, []);
});

test('a session that is neither in the cache nor readable is told to return soon', async () => {
  const { state, goodbyes, register } = newHandler('a');
  state.isReadable = false;
  await register('new', 'b');
  assert.deepEqual(goodbyes, ['new: the credential of this node cannot be read']);
});

test('before the first list of the cache, a session is compared with the store after it', async () => {
  const { state, goodbyes, register } = newHandler('a');
  state.cached = undefined;
  let listed: () => void = () => undefined;
  state.synced = new Promise((resolve) => {
    listed = resolve;
  });
  const registered = register('early', 'a');
  await new Promise(setImmediate);
  assert.equal(state.storeReads, 0);
  // Revoked before the list, so the cache gets no change of it.
  state.stored = undefined;
  listed();
  await registered;
  assert.deepEqual(goodbyes, ['early: the credential of this node was revoked']);
});
