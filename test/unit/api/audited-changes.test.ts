/** The changed fields that the audit log records, and what it leaves out. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { recordsChange } from '../../../coordinator/api/audit/audit-event.js';
import { recordedChanges } from '../../../coordinator/api/audit/object-changes.js';
import { type RequestInfo, readRequest } from '../../../coordinator/api/http/request-info.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { startCpuTimer } from '../../harness/basics/cpu-time.js';

const HIDDEN = '(not recorded)';

function changes(before: object | undefined, after: object, isSecret = false) {
  const object = (content: object) => ({ metadata: { name: 'x' }, ...content }) as unknown as KubeObject;
  return recordedChanges({ isSecret, before: before && object(before), after: object(after) });
}

const template = (container: object) => ({ spec: { template: { spec: { containers: [container] } } } });
const main = (content: object) => template({ name: 'main', ...content });
const IN_MAIN = 'spec.template.spec.containers[main]';

describe('a changed field has its path, and the values before and after', () => {
  for (const [what, before, after, expected] of [
    [
      'an image',
      main({ image: 'till:1' }),
      main({ image: 'till:2' }),
      [{ path: `${IN_MAIN}.image`, before: 'till:1', after: 'till:2' }],
    ],
    [
      'an added and a removed label',
      { metadata: { labels: { 'a.b/c': '1' } } },
      { metadata: { labels: { site: 'kiel' } } },
      [
        { path: 'metadata.labels.site', after: 'kiel' },
        { path: 'metadata.labels[a.b/c]', before: '1' },
      ],
    ],
    [
      'a list without names, as a whole',
      { spec: { taints: [{ key: 'a' }] } },
      { spec: { taints: [{ key: 'b' }] } },
      [{ path: 'spec.taints', before: [{ key: 'a' }], after: [{ key: 'b' }] }],
    ],
    [
      'the first request to a rollout',
      {},
      { spec: { requests: [{ id: 1, verb: 'pause' }] } },
      [{ path: 'spec.requests[1]', after: { id: 1, verb: 'pause' } }],
    ],
    [
      'a request to a rollout',
      { spec: { requests: [{ id: 1, verb: 'pause' }] } },
      {
        spec: {
          requests: [
            { id: 1, verb: 'pause' },
            { id: 2, verb: 'abort' },
          ],
        },
      },
      [{ path: 'spec.requests[2]', after: { id: 2, verb: 'abort' } }],
    ],
    [
      'a container that comes',
      template({ name: 'main' }),
      { spec: { template: { spec: { containers: [{ name: 'main' }, { name: 'log' }] } } } },
      [{ path: 'spec.template.spec.containers[log]', after: { name: 'log' } }],
    ],
  ] as const) {
    test(what, () => assert.deepEqual(changes(before, after)?.fields, expected));
  }

  test('a creation has the fields of the new object', () => {
    const made = changes(undefined, { metadata: { labels: { app: 'x' } }, spec: { replicas: 1 } });
    assert.deepEqual(made?.fields, [
      { path: 'metadata.labels.app', after: 'x' },
      { path: 'spec.replicas', after: 1 },
    ]);
  });

  test('a write of what the server sets, or of the status, has none', () => {
    const before = { metadata: { resourceVersion: '1', managedFields: [] }, status: { a: 1 } };
    assert.equal(changes(before, { metadata: { resourceVersion: '2' }, status: { a: 2 } }), undefined);
  });
});

describe('a confidential value is not recorded', () => {
  const WORD = 'hunter2';
  for (const [what, before, after, isSecret] of [
    ['data of a Secret', { data: { word: 'b2xk' } }, { data: { word: WORD } }, true],
    ['a new Secret', undefined, { stringData: { word: WORD }, data: { other: WORD } }, true],
    [
      'a variable named like a secret',
      main({ env: [{ name: 'DB_PASSWORD', value: 'old' }] }),
      main({ env: [{ name: 'DB_PASSWORD', value: WORD }] }),
    ],
    ['a shell command', main({}), main({ command: ['sh', '-c', `app --password ${WORD}`] })],
    ['a password that is attached to -p', main({}), main({ args: ['mysql', '-u', 'root', `-p${WORD}`] })],
    ['a quoted password after -p', main({}), main({ command: ['sh', '-c', `mysql -p'${WORD}' shop`] })],
    ['a password of digits and letters', main({}), main({ args: [`-p8080${WORD}`] })],
    ['a password after -p= in a script', { data: {} }, { data: { 'run.sh': `a\nmysqldump -p=${WORD} b\n` } }],
    ['a password in the item after -p', main({}), main({ args: ['-p', WORD] })],
    ['a password that begins like an option', main({}), main({ args: [`-portal${WORD}`] })],
    ['a user with a password', main({}), main({ args: ['curl', '-u', `ann:${WORD}`] })],
    ['a user with a password in a script', { data: {} }, { data: { a: `curl -uann:${WORD} https://x` } }],
    ['a long option of a user', main({}), main({ command: ['sh', '-c', `curl --user ann:${WORD}`] })],
    ...[
      `curl -u ann:'${WORD}' https://x`,
      `curl -u ann:"${WORD}" https://x`,
      `curl -u "ann smith:${WORD}" https://x`,
      `curl -u ann\\ smith:${WORD} https://x`,
      `curl -u 'ann':${WORD}`,
      `curl -fsSu ann:${WORD}`,
      `curl -fsSuann:${WORD}`,
      `curl -u \\\n  ann:${WORD}`,
      `curl --proxy-user ann:${WORD}`,
      `curl --proxy-user=ann:${WORD}`,
      `curl -U ann:${WORD}`,
      `curl -u ${WORD}: https://x`,
      `curl -u ${WORD.repeat(20)}`,
      `mysql -p$ecret${WORD}`,
      `mysql -p$Ecret${WORD}`,
      `mysql;-p${WORD}`,
      `(mysql -p';${WORD}')`,
      `mysql -p"80;${WORD}"`,
      `mysql -p"80 ${WORD}"`,
      `a&&b -p"-${WORD}"`,
      `["mysql","-p${WORD}"]`,
      `["mysql", "-p", "${WORD}"]`,
      `["curl","-u","ann:${WORD}"]`,
      `[curl, -u, ann:${WORD}]`,
      `- mysql\n- -p\n- ${WORD}\n`,
      `- curl\n- -u\n- ann:${WORD}\n`,
    ].map((script) => [`an option in ${script}`, { data: {} }, { data: { script } }] as const),
    ...[
      ['-sSu', `ann:${WORD}`],
      ['-u', `ann smith:${WORD}`],
      ['--proxy-user', `ann:${WORD}`],
      ['-U', `ann:${WORD}`],
      ['-p', `-${WORD}`],
      ['-p', `$ecret${WORD}`],
      [`-p$ecret${WORD}`],
      [`-p;${WORD}`],
      [`-p80;${WORD}`],
      [`-p,/${WORD}`],
      [`-u(ann;x:${WORD}`],
    ].map((args) => [`an option in the list ${args}`, main({}), main({ args })] as const),
    ['a value after an option that may be harmless', main({}), main({ args: [`-port=${WORD}`] })],
    ['a password in a group of options', main({}), main({ args: [`-vp${WORD}`, '-U', `corp/ann:${WORD}`] })],
    [
      'the start of a text with a word behind 4 KiB',
      { data: {} },
      { data: { a: `value ${WORD} ${'x'.repeat(6_000)} is the password` } },
    ],
    ['a text that is too long for a search', { data: {} }, { data: { a: `${WORD} ${'x'.repeat(20_000)}` } }],
    [
      'a field behind a megabyte of others',
      { spec: { a: 1 } },
      { spec: { a: Array.from({ length: 3_000 }, () => 'x'.repeat(400)), b: `password ${WORD}` } },
    ],
    [
      'a list of more than a megabyte',
      { spec: {} },
      { spec: { a: Array(3_000).fill(`${WORD} ${'x'.repeat(400)}`) } },
    ],
    ['a block of YAML', { data: {} }, { data: { 'a.yaml': `db:\n  password: |\n    ${WORD}\n` } }],
    ['a password with spaces', { data: {} }, { data: { a: `password: correct horse ${WORD}` } }],
    ['a password with a comma', { data: {} }, { data: { a: `password=a,${WORD}` } }],
    ['an XML element', { data: {} }, { data: { a: `<password>${WORD}</password>` } }],
    ['JSON in JSON', { data: {} }, { data: { a: JSON.stringify({ b: JSON.stringify({ passwd: WORD }) }) } }],
    ['a slash in a password', main({}), main({ args: [`postgres://u:p/${WORD}@h`] })],
    ['an at sign in a password', main({}), main({ args: [`u:p@${WORD}@h`] })],
    ['a space in a password', main({}), main({ args: [`postgres://u:p ${WORD}@h`] })],
    ['an address without a password', main({}), main({ args: [`ssh://${WORD}@h`] })],
    ['a flag that two items follow', main({}), main({ args: ['--set', 'db.password', WORD] })],
    ['a map below a confidential name', { spec: {} }, { spec: { adminPassword: { value: WORD } } }],
    ['a key of a cipher', { spec: {} }, { spec: { privateKey: { inline: WORD } } }],
    ['a key without a name next to it', { spec: {} }, { spec: { tls: { cert: 'x', key: WORD } } }],
    [
      'a changed map below a confidential name',
      { spec: { adminPassword: { value: 'a', valueFrom: { x: 'b' } } } },
      { spec: { adminPassword: { value: 'a', valueFrom: { x: WORD } } } },
    ],
    ['a list below a confidential name', { spec: {} }, { spec: { passwords: [{ name: 'a', x: WORD }] } }],
    ['a parameter', { spec: {} }, { spec: { parameters: [{ name: 'auth.password', default: WORD }] } }],
    ['a pair', { spec: {} }, { spec: { settings: [{ key: 'SMTP_PASS', value: WORD }] } }],
    [
      'a variable that gets another name',
      { spec: { a: { name: 'PASSWORD', value: WORD } } },
      { spec: { a: { name: 'other', value: 'x' } } },
    ],
    [
      'the manifest in an annotation of kapp',
      {},
      { metadata: { annotations: { 'kapp.k14s.io/original': WORD } } },
    ],
    [
      'an annotation of a Secret',
      { metadata: { annotations: {} } },
      { metadata: { annotations: { a: WORD }, labels: { b: WORD } } },
      true,
    ],
    [
      'a variable of a new container',
      main({}),
      template({ name: 'b', env: [{ name: 'TOKEN', value: WORD }] }),
    ],
    ['a flag', main({ args: [] }), main({ args: ['--password', WORD] })],
    ['a flag with its value', main({ args: [] }), main({ args: [`--api-key=${WORD}`] })],
    ['an address with a password', main({}), main({ image: `https://me:${WORD}@registry/x` })],
    ['a key of a ConfigMap', { data: {} }, { data: { 'client-secret': WORD } }],
    ['a line of a file', { data: {} }, { data: { 'app.conf': `user=x\npassword = ${WORD}\n` } }],
    ['a line of JSON', { data: {} }, { data: { json: `{"dbPassword": "${WORD}", "a": 1}` } }],
    ['a query', { data: {} }, { data: { url: `https://x/y?a=1&access_key=${WORD}` } }],
    ['a private key', { data: {} }, { data: { pem: `-----BEGIN EC PRIVATE KEY-----\n${WORD}` } }],
    ['a header', { data: {} }, { data: { conf: `Bearer ${WORD}${WORD}` } }],
    [
      'the last applied manifest of kubectl',
      undefined,
      { metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': WORD } } },
    ],
    [
      'a field of a custom resource',
      { spec: {} },
      { spec: { auth: { password: WORD, credentials: [WORD] } } },
    ],
  ] as const) {
    test(what, () => {
      const text = JSON.stringify(changes(before, after, isSecret ?? false) ?? '');
      assert.ok(!text.includes(WORD), text);
      assert.ok(text.includes(HIDDEN) || text === '""', text);
    });
  }

  for (const [what, field] of [
    [
      'a volume',
      { volumes: [{ name: 'v', secret: { secretName: 'db', items: [{ key: 'a', path: 'b' }] } }] },
    ],
    ['a variable', { env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'word' } } }] }],
    ['a password of a custom resource', { adminPassword: { valueFrom: { secretKeyRef: { name: 'a' } } } }],
    [
      'a variable from a file',
      { env: [{ name: 'TOKEN', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a', key: 'b' } } }] },
    ],
    ['a source of variables', { envFrom: [{ secretRef: { name: 'token-of-till', optional: true } }] }],
    ['a Secret for images', { imagePullSecrets: [{ name: 'registry' }] }],
    ['a name', { volumes: [{ secretName: 'db' }] }],
    ['a projected token', { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 60 } }] }],
  ] as const) {
    test(`a reference to a Secret is recorded: ${what}`, () => {
      const text = JSON.stringify(changes({ spec: {} }, { spec: { x: field } }));
      assert.ok(text.includes(JSON.stringify(field)), text);
    });
  }
});

describe('the name decides whether a value is confidential', () => {
  const CONFIDENTIAL =
    'MYSQL_PWD WIFI_PSK smtpPass SMTP_PASS smtppass SSH_KEY sshKey TS_AUTHKEY AUTH basicAuth auth.basic cookie ' +
    'sessionCookie DB_PASSWORD passphrase clientSecret TOKEN apiKey api-key api.key tls.key access_key pass pwd ' +
    'preSharedKey credentials JWT DSN dbCreds kubeconfig .dockerconfigjson.auth token2 KEY1 HTTP_AUTHORIZATION';
  const ORDINARY =
    'imagePullPolicy keys topologyKey tokenReview keyPath keyType matchLabelKeys tokenExpirationSeconds secretName image author ' +
    'authority passive bypass compass keyboard monkey replicas maxUnavailable terminationGracePeriodSeconds ' +
    'app.kubernetes.io/name node-role.kubernetes.io/control-plane minReadySeconds podManagementPolicy hostPath ' +
    'keepalive spec encompass';
  for (const name of CONFIDENTIAL.split(' ')) {
    test(`${name} is confidential`, () => {
      assert.equal(changes({ spec: {} }, { spec: { [name]: 'hunter2' } })?.fields[0]?.after, HIDDEN);
      const variable = main({ env: [{ name, value: 'hunter2' }] });
      assert.ok(!JSON.stringify(changes(main({}), variable)).includes('hunter2'));
    });
  }
  for (const name of ORDINARY.split(' ')) {
    test(`${name} is ordinary`, () => {
      assert.equal(changes({ spec: {} }, { spec: { [name]: 'plain' } })?.fields[0]?.after, 'plain');
    });
  }
});

describe('ordinary values are recorded', () => {
  for (const value of [
    { tolerations: [{ key: 'node-role.kubernetes.io/x', operator: 'Exists', effect: 'NoSchedule' }] },
    { matchExpressions: [{ key: 'site', operator: 'In', values: ['kiel', 'ulm'] }] },
    { topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, matchLabelKeys: ['a'] }] },
    { taints: [{ key: 'dedicated', value: 'till', effect: 'NoExecute' }] },
    { rules: [{ apiGroups: ['authorization.k8s.io'], resources: ['secrets', 'pods'], verbs: ['get'] }] },
    { automountServiceAccountToken: false, serviceAccountName: 'token-robot' },
    { image: 'registry.example:5000/auth/till:1@sha256:abc' },
    { args: ['--log-level=debug', '--listen=:8080', 'git@example.com:a/b'] },
    { args: ['-v=2', '-listen-address=:80', '-log.level', 'debug', '-o', 'a', 'up-to-date', 'a-p b', '-p'] },
    { command: ['sh', '-c', 'cd /x && tail -f a --pid 1'] },
    { volumeMounts: [{ name: 'token', mountPath: '/var/run/secrets/x' }] },
    { updateStrategy: { rollingUpdate: { maxUnavailable: '10%' } } },
  ]) {
    test(Object.keys(value).join(), () => {
      const text = JSON.stringify(changes({ spec: {} }, { spec: { x: value } }));
      assert.ok(text.includes(JSON.stringify(value)), text);
    });
  }
});

test('a very deep object is recorded up to a depth', () => {
  let deep: object = {};
  for (let depth = 0; depth < 2_000; depth += 1) deep = { a: deep };
  assert.equal(changes({ spec: { x: 1 } }, { spec: deep })?.fields.length, 2);
});

test('a text that looks like a thousand names costs no time', () => {
  const data = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`k${at}`, 'secret'.repeat(300)]));
  const cpuMs = startCpuTimer();
  changes({}, { data });
  const ms = cpuMs();
  assert.ok(ms < 1_000, `${ms} ms`);
});

describe('many long texts cost little time, whatever they contain', () => {
  const OPTIONS = [
    '(-u',
    '-p(',
    '-p/(',
    '-p80(',
    '(-p80,',
    '"-ua',
    '-u "',
    "-u '",
    '-p"',
    "-p'/",
    "-u' -u '' ",
  ];
  const GROUPS = ['-', '(-uuuuuuu', '-u\\ ', '-u    ', '=-path', 'a:', '"', "'"];
  for (const unit of ['aB', 'passwor ', '-u -p ', 'basic abc ', 'u: @', ...OPTIONS, ...GROUPS]) {
    test(JSON.stringify(unit), () => {
      const text = unit.repeat(16_000 / unit.length);
      // As many as a write may have. Only the first megabyte is searched.
      const data = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`k${at}`, text]));
      const cpuMs = startCpuTimer();
      const made = changes({ data: {} }, { data });
      const ms = cpuMs();
      assert.ok(ms < 2_000, `${ms} ms`);
      assert.equal((made?.fields.length ?? 0) + (made?.omitted ?? 0), 200);
    });
  }
});

test('the entry of a large object is bounded, and counts what it lacks', () => {
  const data = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`k${index}`, 'x'.repeat(900)]),
  );
  const made = changes({}, { data });
  assert.ok(JSON.stringify(made).length < 5_000);
  assert.equal((made?.fields.length ?? 0) + (made?.omitted ?? 0), 500);
  assert.ok(String(made?.fields[0]?.after).length < 300, 'each text is cut');
});

test('a field beyond the searched megabyte is hidden, and a smaller one after it is shown', () => {
  const data = { large: Array(3_000).fill('x'.repeat(400)), small: 'plain' };
  assert.deepEqual(changes({ data: {} }, { data })?.fields, [
    { path: 'data.large', after: HIDDEN },
    { path: 'data.small', after: 'plain' },
  ]);
});

describe('changes are recorded', () => {
  const admin = { username: 'ann', groups: ['ops'] };
  const inPod = { ...admin, extra: { 'authentication.kubernetes.io/pod-name': ['p'] } };
  const DAEMON_SET = '/apis/apps/v1/namespaces/default/daemonsets/till';
  for (const [what, path, user, expected] of [
    ['of an operator', DAEMON_SET, admin, true],
    ['of a scale', '/apis/apps/v1/namespaces/a/deployments/x/scale', admin, true],
    ['not of an agent', DAEMON_SET, { username: 'system:node:a', groups: ['system:nodes'] }, false],
    ['not of a controller in a Pod', DAEMON_SET, inPod, false],
    ['not of a status', `${DAEMON_SET}/status`, admin, false],
    ['not of a Lease', '/apis/coordination.k8s.io/v1/namespaces/a/leases/x', admin, false],
  ] as const) {
    test(what, () => {
      const info: RequestInfo = readRequest('PATCH', path);
      assert.ok(info.type === 'resource');
      assert.equal(recordsChange(info, { uid: '', ...user, groups: [...user.groups] }), expected);
    });
  }
});
