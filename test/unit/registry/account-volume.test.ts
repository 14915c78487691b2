/** The additions to a Pod that names a ServiceAccount, on admission and on its host. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  PodTokenCache,
  type TokenRequest,
  type TokenResult,
} from '../../../agent/pods/steps/pod-token-cache.js';
import { mountServiceAccountToken } from '../../../coordinator/registry/admission/service-account-admission.js';
import {
  serviceAccountTokenSources,
  TOKEN_MOUNT_PATH,
} from '../../../shared/kube/access/service-account-token.js';
import type { ServiceAccount } from '../../../shared/kube/access/service-account-types.js';
import type { Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { MIRROR_ANNOTATION } from '../../../shared/kube/pods/static-pod-annotations.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

function pod(spec: Partial<PodSpec> = {}): Pod {
  const containers = [{ name: 'a', image: 'i' }];
  const metadata = { name: 'p', namespace: 'ns', uid: 'u' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers, serviceAccountName: 'robot', ...spec },
  };
}

function account(change: Partial<ServiceAccount> = {}): ServiceAccount {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' }, ...change };
}

function mounted(given: Pod, found: ServiceAccount | undefined = account()): Pod {
  mountServiceAccountToken(
    given,
    () => found,
    () => 0,
  );
  return given;
}

describe('a Pod that names a ServiceAccount', () => {
  test('gets one token volume, mounted in each container that mounts nothing at that path', () => {
    const own = [{ name: 'mine', mountPath: TOKEN_MOUNT_PATH }];
    const containers = [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i', volumeMounts: own },
    ];
    const { spec } = mounted(pod({ containers, initContainers: [{ name: 'i', image: 'i' }] }));
    assert.equal(spec.volumes?.length, 1);
    const [volume] = spec.volumes ?? [];
    assert.match(volume?.name ?? '', /^kube-api-access-.{5}$/);
    assert.deepEqual(spec.containers[1]?.volumeMounts, own);
    for (const container of [spec.containers[0], spec.initContainers?.[0]]) {
      assert.deepEqual(container?.volumeMounts, [
        { name: volume?.name, readOnly: true, mountPath: TOKEN_MOUNT_PATH },
      ]);
    }
  });

  for (const [title, given, found, sources] of [
    ['the account disables token mounting', pod(), account({ automountServiceAccountToken: false }), 0],
    [
      'the Pod enables token mounting although the account disables it',
      pod({ automountServiceAccountToken: true }),
      account({ automountServiceAccountToken: false }),
      1,
    ],
    ['the Pod disables token mounting', pod({ automountServiceAccountToken: false }), account(), 0],
  ] as [string, Pod, ServiceAccount | undefined, number][]) {
    test(title, () => {
      mountServiceAccountToken(
        given,
        () => found,
        () => 0,
      );
      assert.equal(serviceAccountTokenSources(given).length, sources);
    });
  }

  test('is rejected while that account does not exist', () => {
    assert.throws(
      () =>
        mountServiceAccountToken(
          pod(),
          () => undefined,
          () => 0,
        ),
      /^ApiError: pods "p" is forbidden: error looking up service account ns\/robot: serviceaccount "robot" not found$/,
    );
  });

  test("gets the account's pull secrets unless it names its own", () => {
    const found = account({ imagePullSecrets: [{ name: 'reg' }] });
    assert.deepEqual(mounted(pod(), found).spec.imagePullSecrets, [{ name: 'reg' }]);
    const own = mounted(pod({ imagePullSecrets: [{ name: 'own' }] }), found);
    assert.deepEqual(own.spec.imagePullSecrets, [{ name: 'own' }]);
  });
});

describe('a Pod that names no ServiceAccount', () => {
  const nameless = (spec: Partial<PodSpec> = {}) => {
    const given = pod(spec);
    delete given.spec.serviceAccountName;
    return given;
  };
  const metadata = { name: 'default' };

  for (const [title, given, found, sources] of [
    ['the namespace has no default account', nameless(), undefined, 0],
    [
      'the default account has its initial settings',
      nameless(),
      account({ metadata, automountServiceAccountToken: false }),
      0,
    ],
    ['the default account enables token mounting', nameless(), account({ metadata }), 1],
    [
      'the default account disables token mounting',
      nameless({ automountServiceAccountToken: true }),
      undefined,
      1,
    ],
  ] as [string, Pod, ServiceAccount | undefined, number][]) {
    test(`uses the default account of its namespace: ${title}`, () => {
      const { spec } = given;
      mountServiceAccountToken(
        given,
        () => found,
        () => 0,
      );
      assert.deepEqual([spec.serviceAccountName, spec.serviceAccount], ['default', 'default']);
      assert.equal(serviceAccountTokenSources(given).length, sources);
    });
  }

  test('stays unchanged without an account lookup, and as a mirror Pod', () => {
    const unknown = nameless();
    mountServiceAccountToken(unknown, undefined, () => 0);
    const mirror = nameless();
    mirror.metadata.annotations = { [MIRROR_ANNOTATION]: 'x' };
    for (const { spec } of [unknown, mounted(mirror)]) assert.deepEqual(spec, nameless().spec);
  });
});

describe('ServiceAccount tokens on a host', () => {
  const clock = new ManualClock(1_000_000);
  const asked: TokenRequest[] = [];
  let answer: () => Promise<TokenResult> = async () => ({ token: `t${asked.length}` });
  const tokens = new PodTokenCache((wish) => {
    asked.push(wish);
    return answer();
  }, clock);
  const robot = mounted(pod());
  const [source] = serviceAccountTokenSources(robot);
  assert.ok(source);

  test('are requested once and renewed after four fifths of their lifetime', async () => {
    const renewAt = await tokens.ensure(robot);
    assert.equal(renewAt, clock.now() + 3607 * 800);
    assert.equal(await tokens.ensure(robot), renewAt);
    assert.deepEqual(asked, [
      { namespace: 'ns', serviceAccount: 'robot', pod: { name: 'p', uid: 'u' }, expirationSeconds: 3607 },
    ]);
    assert.equal(tokens.find('u', source), 't1');
    clock.advance(3607 * 800);
    await tokens.ensure(robot);
    assert.equal(tokens.find('u', source), 't2');
  });

  test('are requested again when the coordinator clock was stepped and they are not valid by it', async () => {
    const issuedAt = 1_800_000_000;
    const claims = Buffer.from(JSON.stringify({ nbf: issuedAt, exp: issuedAt + 3607 })).toString('base64url');
    answer = async () => ({ token: `x.${claims}.${asked.length}` });
    clock.advance(3607 * 800);
    await tokens.ensure(robot);
    const count = asked.length;
    for (const [seconds, uids] of [
      [0, []],
      [3_606, []],
      [3_607, ['u']],
      [-1, ['u']],
    ] as const) {
      assert.deepEqual(tokens.podsWithInvalidTokensAt((issuedAt + seconds) * 1000), uids, `${seconds}`);
      await tokens.ensure(robot);
    }
    assert.equal(asked.length, count + 2);
    answer = async () => ({ token: 't2' });
    clock.advance(3607 * 800);
    await tokens.ensure(robot);
    assert.deepEqual(tokens.podsWithInvalidTokensAt(0), [], 'one of an unknown form');
  });

  test('are kept while the coordinator is unreachable, and requested again soon', async () => {
    clock.advance(3607 * 800);
    answer = () => Promise.reject(new Error('connect ECONNREFUSED'));
    assert.equal(await tokens.ensure(robot), clock.now() + 10_000);
    assert.equal(tokens.find('u', source), 't2');
  });

  test('are reported when the request is rejected', async () => {
    answer = async () => ({ refused: 'serviceaccounts "robot" not found' });
    await assert.rejects(tokens.ensure(robot), /failed to fetch token: serviceaccounts "robot" not found/);
  });

  test('are deleted with their Pod, and are not requested for a Pod without token volumes', async () => {
    tokens.forget('u');
    assert.equal(tokens.find('u', source), undefined);
    assert.equal(await tokens.ensure(pod({ serviceAccountName: 'x' })), undefined);
  });
});
