import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeTrouble } from '../../../coordinator/store/replica/etcd/checks/endpoint-trouble.js';
import {
  type ContentFacts,
  type EndpointFacts,
  judgeContent,
  judgeEndpoints,
} from '../../../coordinator/store/replica/etcd/checks/etcd-checks.js';
import { EtcdRefused } from '../../../coordinator/store/replica/etcd/checks/etcd-refused.js';
import type { EtcdAccess } from '../../../coordinator/store/replica/etcd/etcd-access.js';
import { outcomeOf } from '../../../coordinator/store/replica/etcd/etcd-error-outcome.js';
import { healthOf } from '../../../coordinator/store/replica/etcd/etcd-health.js';

const good: EndpointFacts = { endpoint: 'https://a', clusterId: '10', version: '3.4.23', errors: [] };
const down: EndpointFacts = { endpoint: 'https://b', trouble: 'no program listens there' };
const NO_LEADER = 'etcdserver: no leader';

const ACCEPTED: readonly [string, readonly EndpointFacts[], readonly RegExp[]][] = [
  ['one member', [good], []],
  ['a version 3.6', [{ ...good, version: '3.6.14' }], []],
  ['one of two members down', [good, down], [/https:\/\/b: no program listens there/]],
  ['one member without a leader', [good, { ...good, errors: [NO_LEADER] }], []],
  ['an alarm for space', [{ ...good, errors: ['memberID:1 alarm:NOSPACE '] }], [/NOSPACE.*etcdctl defrag/]],
];
for (const [what, facts, warnings] of ACCEPTED)
  test(`an etcd with ${what} is accepted with ${warnings.length} warnings`, () => {
    const { warnings: given } = judgeEndpoints(facts);
    assert.equal(given.length, warnings.length);
    for (const [place, warning] of warnings.entries()) assert.match(given[place] ?? '', warning);
  });

const REFUSED: readonly [string, readonly EndpointFacts[], RegExp][] = [
  [
    'all members down',
    [down, { ...down, endpoint: 'https://c' }],
    /https:\/\/b: no program.*https:\/\/c: no/,
  ],
  ['version 3.3', [{ ...good, version: '3.3.27' }], /https:\/\/a is etcd 3\.3\.27: .*needs etcd 3\.4/],
  ['version 4', [good, { ...good, version: '4.0.0' }], /is etcd 4\.0\.0/],
  ['no version', [{ ...good, version: '' }], /needs etcd 3\.4/],
  ['no leader', [{ ...good, errors: [NO_LEADER] }, down], /no leader.*https:\/\/b/],
  [
    'members of two clusters',
    [good, down, { ...good, endpoint: 'https://c', clusterId: '11' }],
    /different etcd clusters: https:\/\/a \(cluster a\) and https:\/\/c \(cluster b\)/,
  ],
  ['corrupt data', [{ ...good, errors: ['memberID:1 alarm:CORRUPT '] }], /CORRUPT/],
];
for (const [what, facts, message] of REFUSED)
  test(`an etcd with ${what} is refused`, () => {
    assert.throws(
      () => judgeEndpoints(facts),
      (error) => error instanceof EtcdRefused && error.code === 'environment' && message.test(error.message),
    );
  });

const fleet = JSON.stringify({ clusterUID: 'mine', generation: 'first' });

test('an empty etcd serves no fleet', () => {
  assert.deepEqual(judgeContent({}, 'mine'), { fleet: undefined, warnings: [] });
});
test('the own fleet is returned, also if the caller does not know its name yet', () => {
  for (const clusterUID of ['mine', undefined])
    assert.deepEqual(judgeContent({ fleet }, clusterUID), { fleet: JSON.parse(fleet), warnings: [] });
});
test('a foreign key in an etcd that already serves the fleet is a warning', () => {
  const { warnings } = judgeContent({ fleet, foreignKey: '/registry/pods/a' }, 'mine');
  assert.match(warnings.join(), /key \/registry\/pods\/a/);
});

const REFUSED_CONTENT: readonly [string, ContentFacts, RegExp][] = [
  [
    'that another program uses',
    { foreignKey: '/registry/pods/a' },
    /key \/registry\/pods\/a.*etcd of their own/,
  ],
  ['of another fleet', { fleet: fleet.replace('mine', 'other') }, /another fleet \(other, not mine\)/],
  ['with an unreadable fleet', { fleet: 'x' }, /\/everynode\/cluster.*names no fleet/],
  ['with an incomplete fleet', { fleet: '{"clusterUID":"mine"}' }, /names no fleet/],
];
for (const [what, content, message] of REFUSED_CONTENT)
  test(`an etcd ${what} is refused`, () => {
    assert.throws(
      () => judgeContent(content, 'mine'),
      (error) => error instanceof EtcdRefused && error.code === 'refused' && message.test(error.message),
    );
  });

const secure: EtcdAccess = {
  endpoints: ['https://a'],
  isSecure: true,
  caFile: 'ca.pem',
  certFile: 'client.pem',
  keyFile: 'client.key',
};
const plain: EtcdAccess = { endpoints: ['http://127.0.0.1:1'], isSecure: false };
const TROUBLES: readonly [string, string, EtcdAccess, RegExp][] = [
  ['ECONNREFUSED', 'connect ECONNREFUSED', secure, /no program listens/],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed', secure, /authority in ca\.pem \(--etcd-ca\)/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Hostname', secure, /for another address/],
  ['CERT_HAS_EXPIRED', 'expired', secure, /has expired/],
  ['EPROTO', 'SSL routines::wrong version number', secure, /does not speak TLS/],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tlsv1 alert unknown ca', secure, /rejects.*client\.pem/],
  [
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    'tlsv13 alert certificate required',
    secure,
    /rejects.*client/,
  ],
  ['ECONNRESET', 'read ECONNRESET', secure, /does not speak TLS/],
  ['ECONNRESET', 'read ECONNRESET', plain, /may need https/],
  ['EXDEV', 'something new', secure, /something new/],
];
for (const [code, message, access, sentence] of TROUBLES)
  test(`the trouble ${code} of an ${access.isSecure ? 'https' : 'http'} endpoint is explained`, () => {
    assert.match(describeTrouble({ code, message }, access), sentence);
  });

const OUTCOMES: readonly [number, string, string][] = [
  [14, 'No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1', 'notSent'],
  [14, 'Name resolution failed for target dns:x', 'notSent'],
  [14, 'read ECONNRESET', 'unknown'],
  [14, 'etcdserver: request timed out', 'unknown'],
  [14, 'etcdserver: leader changed', 'unknown'],
  [4, 'Deadline exceeded', 'unknown'],
  [2, 'anything', 'unknown'],
  [8, 'etcdserver: mvcc: database space exceeded', 'full'],
  [8, 'etcdserver: too many requests', 'busy'],
  [8, 'Received message larger than max', 'rejected'],
  [3, 'etcdserver: user name is empty', 'rejected'],
  [5, 'etcdserver: requested lease not found', 'rejected'],
];
for (const [code, details, outcome] of OUTCOMES)
  test(`the gRPC error ${code} '${details}' means ${outcome}`, () => {
    assert.equal(outcomeOf(code, details), outcome);
  });

test('a connection that ends after the TLS handshake means a rejected client certificate', () => {
  const reset = { code: 'ECONNRESET', message: 'closed', isAfterHandshake: true };
  assert.match(describeTrouble(reset, secure), /rejects the client certificate in client\.pem/);
});

test('the health of a member names its alarms once, and why it cannot serve', () => {
  const header = { clusterId: '10', memberId: '18446744073709551615', revision: '1' };
  const status = { header, version: '3.4.23', dbSize: '4096', leader: '18446744073709551615' };
  const errors = ['memberID:1 alarm:NOSPACE ', 'memberID:2 alarm:NOSPACE ', NO_LEADER];
  assert.deepEqual(healthOf('https://a', { ...status, errors }), {
    endpoint: 'https://a',
    version: '3.4.23',
    isLeader: true,
    dbBytes: 4096,
    alarms: ['NOSPACE'],
    error: NO_LEADER,
  });
  assert.deepEqual(healthOf('https://a', { ...status, errors }, '11'), {
    endpoint: 'https://a',
    error: 'it belongs to another etcd cluster (a)',
    isForeign: true,
  });
  assert.deepEqual(healthOf('https://a', { ...status, leader: '0', errors: [] }, '10'), {
    endpoint: 'https://a',
    version: '3.4.23',
    isLeader: false,
    dbBytes: 4096,
  });
});
