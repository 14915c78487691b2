/** Image names, and the credentials that match a registry. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fullImageName, pullNames } from '../../../agent/decisions/images/image-name.js';
import { missingSecretsText, pullSecrets } from '../../../agent/decisions/images/pull-secrets.js';
import { goDuration, pulledText } from '../../../agent/decisions/images/pulled-message.js';
import { credentialsFor, parseDockerConfig } from '../../../agent/decisions/images/registry-credentials.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { imageNameError } from '../../../shared/kube/pods/image-syntax.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ring = (...keys: string[]) =>
  parseDockerConfig(
    JSON.stringify({ auths: Object.fromEntries(keys.map((key) => [key, { auth: base64(`${key}:pw`) }])) }),
  );

describe('credentials', () => {
  const cases: [key: string, image: string, opens: boolean][] = [
    ['https://index.docker.io/v1/', 'nginx', true],
    ['docker.io', 'user/app:1', true],
    ['registry.example.com', 'registry.example.com/app:1', true],
    ['registry.example.com', 'registry.example.com:5000/app:1', false],
    ['registry.example.com:5000', 'registry.example.com:5000/app:1', true],
    ['https://registry.example.com/v2/', 'registry.example.com/app:1', true],
    ['registry.example.com/team', 'registry.example.com/team/app:1', true],
    ['registry.example.com/team', 'registry.example.com/other/app:1', false],
    ['*.example.com', 'a.example.com/app:1', true],
    ['*.example.com', 'a.b.example.com/app:1', false],
    ['app*.example.com', 'app1.example.com/app:1', true],
    ['example.com', 'a.example.com/app:1', false],
  ];
  for (const [key, image, opens] of cases) {
    test(`${key} ${opens ? 'opens' : 'does not match'} ${image}`, () => {
      assert.equal(credentialsFor(fullImageName(image), [ring(key)]).length, opens ? 1 : 0);
    });
  }

  test("the Pod's credentials precede the host's, and the most specific precedes the wider", () => {
    const found = credentialsFor('a.example.com/team/app:1', [
      ring('*.example.com', 'a.example.com', 'a.example.com/team'),
      ring('a.example.com'),
    ]);
    // The entry's name contains the key, which may contain a colon.
    assert.deepEqual(
      found.map(({ username }) => username),
      ['a.example.com/team', 'a.example.com', '*.example.com', 'a.example.com'],
    );
  });

  test('every form of an entry is read, and the older file without auths', () => {
    const config = parseDockerConfig(
      JSON.stringify({
        'a.io': { auth: base64('me:with:colon') },
        'b.io': { username: 'you', password: 'pw' },
        'c.io': { identitytoken: 'token', auth: base64('x:y') },
        'd.io': {},
      }),
    );
    assert.deepEqual(
      [...config],
      [
        ['a.io', { username: 'me', password: 'with:colon' }],
        ['b.io', { username: 'you', password: 'pw' }],
        ['c.io', { identityToken: 'token' }],
      ],
    );
  });

  test('an invalid file is rejected without printing its content', () => {
    assert.throws(() => parseDockerConfig('[]'), /not a JSON object/);
    assert.throws(
      () => parseDockerConfig('{"auths":{"a.io":{"auth":"c2VjcmV0"}}}'),
      (error: Error) => {
        return /auths\[a\.io\]\.auth/.test(error.message) && !error.message.includes('secret');
      },
    );
  });
});

describe('pull secrets of a Pod', () => {
  const secret = (type: string, data: Record<string, string>): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'default' },
    type,
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
  });
  const auths = { 'a.io': { username: 'u', password: 'p' } };
  const open = (objects: Record<string, Secret>) =>
    pullSecrets(
      podOf('p', {
        imagePullSecrets: Object.keys(objects)
          .concat('gone')
          .map((name) => ({ name })),
      }),
      ({ name }) => objects[name],
    );

  test('both secret types are read, other types and missing secrets are ignored', () => {
    const { rings, missing } = open({
      json: secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': JSON.stringify({ auths }) }),
      cfg: secret('kubernetes.io/dockercfg', { '.dockercfg': JSON.stringify(auths) }),
      other: secret('Opaque', { '.dockerconfigjson': JSON.stringify({ auths }) }),
    });
    assert.deepEqual(
      rings.map((keyring) => [...keyring]),
      [[['a.io', auths['a.io']]], [['a.io', auths['a.io']]]],
    );
    assert.deepEqual(missing, ['gone']);
    assert.equal(
      missingSecretsText(missing),
      'Unable to retrieve some image pull secrets (gone); attempting to pull the image may not succeed.',
    );
  });

  test('an invalid pull secret is named, without printing its content', () => {
    const broken = secret('kubernetes.io/dockercfg', { '.dockercfg': 'hunter2' });
    assert.throws(() => open({ broken }), { message: 'the pull secret "broken" cannot be used: not JSON' });
  });
});

describe('names', () => {
  const cases: [image: string, error: string | undefined][] = [
    ['nginx', undefined],
    ['host:5000/a/b-c_d.e:v1.2', undefined],
    [`app@sha256:${'a'.repeat(64)}`, undefined],
    ['App:1', 'invalid reference format: repository name (library/App) must be lowercase'],
    ['host:5000/App', 'invalid reference format: repository name (App) must be lowercase'],
    ['app:', 'invalid reference format'],
    ['app:a b', 'invalid reference format'],
    ['/app', 'invalid reference format'],
    ['app@sha256:short', 'invalid reference format'],
    ['a//b', 'invalid reference format'],
    [`a/${'b'.repeat(250)}`, 'repository name must not be more than 255 characters'],
  ];
  for (const [image, error] of cases) {
    test(`${image.slice(0, 40)}: ${error ?? 'is a name'}`, () => assert.equal(imageNameError(image), error));
  }

  test('mirrors are tried before the registry', () => {
    const mirrors = { 'docker.io': ['mirror:5000', 'other/hub'] };
    assert.deepEqual(pullNames('docker.io/library/nginx:1', mirrors), [
      'mirror:5000/library/nginx:1',
      'other/hub/library/nginx:1',
      'docker.io/library/nginx:1',
    ]);
    assert.deepEqual(pullNames('quay.io/a/b:1', mirrors), ['quay.io/a/b:1']);
  });
});

describe('the messages of a pull', () => {
  test('durations as Go writes them', () => {
    const written = [0, 350.9, 1250, 62_300, 3_600_000].map(goDuration);
    assert.deepEqual(written, ['0s', '350ms', '1.25s', '1m2.3s', '1h0m0s']);
  });

  test('an Event shows duration and size of a pull, and none for an image that was present', () => {
    assert.equal(
      pulledText('app:1', { pullMs: 1250, totalMs: 2000, sizeBytes: 42 }),
      'Successfully pulled image "app:1" in 1.25s (2s including waiting). Image size: 42 bytes.',
    );
    assert.equal(pulledText('app:1', undefined), 'Container image "app:1" already present on machine');
  });
});
