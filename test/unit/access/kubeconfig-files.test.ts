/** Commands choose and read kubeconfigs like kubectl (client-go tools/clientcmd). */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  chooseKubeconfig,
  type KubeconfigOptions,
} from '../../../coordinator/cli/client/kubeconfig-choice.js';
import { credentialsOf } from '../../../coordinator/cli/client/kubeconfig-credentials.js';
import { chooseContext, readKubeconfig } from '../../../coordinator/cli/client/kubeconfig-file.js';
import { ExitError } from '../../../shared/process/exit-error.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const HOME = '/home/ann/.kube/config';
const choose = (options: KubeconfigOptions, variable?: string, present: readonly string[] = []) => {
  const exists = (path: string) => present.includes(path);
  return chooseKubeconfig(options, { variable, homeDir: '/home/ann', defaultDataDir: '/var/lib/e', exists });
};

describe('the kubeconfig of a command', () => {
  for (const [name, choice, files, isOwn] of [
    ['--kubeconfig before all', choose({ kubeconfig: 'k', data: '/d' }, '/e', [HOME]), ['k'], false],
    ['then --data', choose({ data: '/d' }, '/e', [HOME]), ['/d/kubeconfig'], true],
    ['then $KUBECONFIG', choose({}, '/a::/b:/a', [HOME]), ['/a', '/b'], false],
    ['then ~/.kube/config', choose({}, '', [HOME]), [HOME], false],
    ['then the default data directory', choose({}, undefined), ['/var/lib/e/kubeconfig'], true],
  ] as const) {
    test(name, () => assert.deepEqual([choice.files, choice.isOwn], [files, isOwn]));
  }
});

/** Writes files by name into a folder. Returns a function from name to path. */
function folderWith(files: Record<string, string>): (name: string) => string {
  const folder = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return (name) => join(folder, name);
}

const read = (...files: string[]) => readKubeconfig({ files, source: '$KUBECONFIG', isOwn: false });
const configOf = (name: string, user = '{token: t}') => `
current-context: ${name}
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: ${name}-ns}}]
clusters: [{name: ${name}, cluster: {server: "https://${name}:1"}}]
users: [{name: ${name}, user: ${user}}]
`;

test('of several files the first with a value counts, and missing files are ignored', () => {
  const path = folderWith({
    a: configOf('a'),
    b: `${configOf('b')}${''}`.replace('contexts: [', 'contexts: [{name: a, context: {cluster: b}}, '),
  });
  const config = read(path('none'), path('a'), path('b'));
  assert.deepEqual(
    [undefined, 'a', 'b'].map((name) => {
      const { name: chosen, cluster, namespace } = chooseContext(config, name);
      return [chosen, cluster.fields.server, namespace];
    }),
    [
      ['a', 'https://a:1', 'a-ns'],
      ['a', 'https://a:1', 'a-ns'],
      ['b', 'https://b:1', 'b-ns'],
    ],
  );
});

test('an unusable kubeconfig is one sentence that names the file and how to choose another', () => {
  const path = folderWith({
    empty: '',
    list: '[]',
    broken: 'a: [',
    'no-contexts': 'apiVersion: v1\ncontexts: null\n',
    'no-current': configOf('a').replace('current-context: a', ''),
    'no-cluster': configOf('a').replace('clusters:', 'others:'),
    'no-user': configOf('a').replace('users:', 'others:'),
    shape: 'clusters: {a: b}\n',
  });
  mkdirSync(path('folder'));
  for (const [file, context, what] of [
    ['none', undefined, /does not exist/],
    ['folder', undefined, /cannot be read: EISDIR/],
    ['empty', undefined, /is empty/],
    ['list', undefined, /is not a YAML mapping/],
    ['broken', undefined, /is not YAML/],
    ['no-contexts', undefined, /has no contexts/],
    ['no-current', undefined, /no current context: pass --context with one of a\./],
    ['no-current', 'b', /no context "b"/],
    ['no-cluster', undefined, /cluster of the .* does not exist/],
    ['no-user', undefined, /user "a" of the .* does not exist/],
    ['shape', undefined, /clusters is not a list/],
  ] as const) {
    assert.throws(
      () => chooseContext(read(path(file)), context),
      (error: unknown) => {
        assert.ok(error instanceof ExitError);
        assert.match(error.sentence, what);
        assert.ok(error.sentence.includes(path(file)), error.sentence);
        assert.match(
          error.sentence,
          / Select a kubeconfig with --kubeconfig FILE or [^\n]+--data DIR[^\n]+\.$/,
        );
        return true;
      },
    );
  }
});

/** Returns the credentials of a user with these fields. `files` are in the folder of the kubeconfig. */
function credentials(user: string, files: Record<string, string> = {}) {
  const path = folderWith({ ...files, config: configOf('a', user) });
  if (files.plugin) chmodSync(path('plugin'), 0o755);
  const context = chooseContext(read(path('config')), undefined);
  const { headers, certificate, key } = credentialsOf(context.user, { server: 'https://a:1' });
  return { headers, certificate, key };
}

const NONE = { certificate: undefined, key: undefined };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('the credentials of a user', () => {
  test('a token, or a file with one, which takes precedence', () => {
    assert.deepEqual(credentials('{token: t1}'), { ...NONE, headers: bearer('t1') });
    const both = credentials('{token: t1, tokenFile: token}', { token: 't2\n' });
    assert.deepEqual(both, { ...NONE, headers: bearer('t2') });
  });

  test('a client certificate, inline or in files relative to the kubeconfig', () => {
    const inline = `{client-certificate-data: ${btoa('C1')}, client-key-data: ${btoa('K1')}}`;
    assert.deepEqual(credentials(inline), { certificate: 'C1', key: 'K1', headers: {} });
    const named = credentials('{client-certificate: c.pem, client-key: k.pem}', {
      'c.pem': 'C2',
      'k.pem': 'K2',
    });
    assert.deepEqual(named, { certificate: 'C2', key: 'K2', headers: {} });
  });

  test('a plugin, which gets the server and its own variables', () => {
    const plugin = `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" | grep -q '"server":"https://a:1"' || exit 9
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$WORD-$1'"}}'
`;
    const exec =
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, args: [x], provideClusterInfo: true, env: [{name: WORD, value: w}]}}';
    assert.deepEqual(credentials(exec, { plugin }), { ...NONE, headers: bearer('w-x') });
  });

  test('impersonation, where the kubeconfig sets it', () => {
    assert.deepEqual(credentials('{token: t, as: bob, as-groups: [ops, dev]}').headers, {
      ...bearer('t'),
      'impersonate-user': 'bob',
      'impersonate-group': ['ops', 'dev'],
    });
  });

  for (const [user, what] of [
    ['{username: ann, password: x}', /user "a" in \S+: username is not supported/],
    ['{auth-provider: {name: oidc}}', /auth-provider is not supported/],
    ['{as-user-extra: {a: [b]}}', /as-user-extra is not supported/],
    ['{as-groups: x}', /as-groups must be a list/],
    ['{tokenFile: none}', /tokenFile cannot be read: ENOENT/],
    ['{token: [t]}', /token must be a string/],
    ['{exec: {command: x}}', /exec.apiVersion must be one of/],
    ...[
      'args: 5',
      'args: [null]',
      'env: x',
      'env: [null]',
      'env: [{name: A}]',
      'env: [{name: "A\\0", value: b}]',
    ].map((wrong): [string, RegExp] => [
      `{exec: {apiVersion: client.authentication.k8s.io/v1, command: "true", ${wrong}}}`,
      /exec\.(args|env) must be a list of/,
    ]),
    [
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin, installHint: Get it.}}',
      /its plugin no-such-plugin cannot be run: .*ENOENT\. Get it\./,
    ],
    [
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: "false"}}',
      /its plugin false failed with 1/,
    ],
    ['{exec: {apiVersion: client.authentication.k8s.io/v1, command: echo}}', /not JSON/],
    [
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: echo, interactiveMode: Always}}',
      /needs a terminal/,
    ],
  ] as const) {
    test(`not by ${user}`, () => assert.throws(() => credentials(user), what));
  }
});
