/** CertificateSigningRequests: storage, the permitted changes of each subresource, columns, and signing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signingVerdict } from '../../../coordinator/decisions/identity/signing-verdict.js';
import { certificateSigningRequestKind as kind } from '../../../coordinator/kinds/index.js';
import {
  type CertificateSigningRequest,
  JOIN_RIGHTS_ANNOTATION,
} from '../../../shared/kube/access/certificate-signing-request.js';

const PEM = '-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n';

function request(change: Partial<CertificateSigningRequest['spec']> = {}, conditions: string[] = []) {
  const spec = {
    request: Buffer.from(PEM).toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
    ...change,
  };
  const status = { conditions: conditions.map((type) => ({ type, status: 'True' as const })) };
  return { apiVersion: 'certificates.k8s.io/v1', kind: kind.kind, metadata: { name: 'r' }, spec, status };
}

const WRONG: [string, CertificateSigningRequest, string, RegExp][] = [
  ['no PEM', request({ request: 'eA==' }), 'spec.request', /PEM block type must be CERTIFICATE REQUEST/],
  ['no usages', request({ usages: [] }), 'spec.usages', /^Required value/],
  ['an unknown usage', request({ usages: ['cooking'] }), 'spec.usages[0]', /^Unsupported value: "cooking"/],
  ['a usage twice', request({ usages: ['any', 'any'] }), 'spec.usages[1]', /^Duplicate value: "any"/],
  ['no signer', request({ signerName: '' }), 'spec.signerName', /^Required value/],
  [
    'a signer without a path',
    request({ signerName: 'a.b' }),
    'spec.signerName',
    /fully qualified domain and path/,
  ],
  ['ten seconds', request({ expirationSeconds: 10 }), 'spec.expirationSeconds', /less than 600 seconds/],
  ['both decisions', request({}, ['Approved', 'Denied']), 'status.conditions[1].type', /mutually exclusive/],
];
for (const [what, object, field, message] of WRONG) {
  test(`refused: ${what}`, () => {
    const [error] = kind.validate(object);
    assert.equal(error?.field, field);
    assert.match(error?.message ?? '', message);
  });
}

test('the creator of a request can neither approve it nor choose its user name', () => {
  const object = request({ username: 'root', groups: ['system:masters'] }, ['Approved']);
  kind.prepareForCreate(object, { now: 0, user: 'jane', groups: ['dev'] });
  assert.deepEqual([object.spec.username, object.spec.groups, object.status], ['jane', ['dev'], {}]);
});

test('a status write cannot approve, an approval cannot issue, and neither can be withdrawn', () => {
  const asStatus = {
    ...request({}, ['Approved', 'Failed']),
    status: { ...request({}, ['Approved', 'Failed']).status },
  };
  kind.prepareForStatusUpdate?.(asStatus, request(), { now: 0 });
  assert.deepEqual(
    asStatus.status?.conditions?.map(({ type }) => type),
    ['Failed'],
  );
  const asDecision: CertificateSigningRequest = request({}, ['Approved', 'Failed']);
  asDecision.status = { ...asDecision.status, certificate: 'eA==' };
  kind.prepareForApproval?.(asDecision, request(), { now: 0 });
  assert.deepEqual(asDecision.status, { conditions: [{ type: 'Approved', status: 'True' }] });
  const [error] = kind.validateStatusUpdate?.(request(), request({}, ['Denied'])) ?? [];
  assert.match(error?.message ?? '', /may not remove a condition of type "Denied"/);
});

test('columns are the same as upstream’s', () => {
  assert.deepEqual(
    kind.columns.map(({ name }) => name),
    ['Name', 'Age', 'SignerName', 'Requestor', 'RequestedDuration', 'Condition'],
  );
  const shown = (object: CertificateSigningRequest) =>
    kind.columns.slice(4).map(({ cell }) => cell(object, 0));
  assert.deepEqual(shown(request({ expirationSeconds: 3_600 })), ['60m', 'Pending']);
  const issued: CertificateSigningRequest = request({}, ['Approved']);
  issued.status = { ...issued.status, certificate: 'eA==' };
  assert.deepEqual(shown(issued), ['<none>', 'Approved,Issued']);
  assert.deepEqual(shown(request({}, ['Denied', 'Failed'])), ['<none>', 'Denied,Failed']);
});

const NODE = { commonName: 'system:node:n1', organizations: ['system:nodes'], requestsMore: false };
const NODE_SPEC = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
};
const PERSON = { commonName: 'jane', organizations: ['dev'], requestsMore: false };
const PERSON_SPEC = { signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };
const VERDICTS: [string, Parameters<typeof signingVerdict>, RegExp | boolean][] = [
  ['a node', [NODE_SPEC, NODE], true],
  [
    'a node with an RSA key',
    [{ ...NODE_SPEC, usages: [...NODE_SPEC.usages, 'key encipherment'] }, NODE],
    true,
  ],
  [
    'a node in another group',
    [NODE_SPEC, { ...NODE, organizations: ['x'] }],
    /organization is not system:nodes/,
  ],
  [
    'a node name that is invalid',
    [NODE_SPEC, { ...NODE, commonName: 'jane' }],
    /does not begin with system:node:/,
  ],
  ['a node with subject alternative names', [NODE_SPEC, { ...NODE, requestsMore: true }], /subjectAltNames/],
  ['a node with server usage', [{ ...NODE_SPEC, usages: ['server auth'] }, NODE], /usages did not match/],
  ['a person', [PERSON_SPEC, PERSON], true],
  [
    'a master',
    [PERSON_SPEC, { ...PERSON, organizations: ['system:masters'] }],
    /system:masters group is not allowed/,
  ],
  ['a user as a node', [PERSON_SPEC, NODE], /signed by kubernetes.io\/kube-apiserver-client-kubelet/],
  [
    'a user as a server',
    [{ ...PERSON_SPEC, usages: ['server auth'] }, PERSON],
    /invalid usage for client certificate/,
  ],
  ["another client's signer", [{ ...PERSON_SPEC, signerName: 'example.com/s' }, PERSON], false],
];
for (const [who, [spec, subject], wanted] of VERDICTS) {
  test(`${wanted === true ? 'signed' : 'not signed'}: ${who}`, () => {
    const verdict = signingVerdict(spec, subject);
    assert.equal(verdict.ours, wanted !== false);
    const refusal = verdict.ours ? (verdict.refusal ?? '') : '';
    if (wanted instanceof RegExp) assert.match(refusal, wanted);
    else assert.equal(refusal, '');
  });
}

test("an API client cannot choose the host of a request or the certificate's content", () => {
  const annotations = { [JOIN_RIGHTS_ANNOTATION]: 'any', 'everynode.dev/node': 'till-1', own: 'kept' };
  const asked = { ...request(), metadata: { name: 'r', annotations } };
  kind.prepareForCreate(asked, { now: 0, user: 'mallory' });
  assert.deepEqual(asked.metadata.annotations, { own: 'kept' });
});

for (const verb of ['prepareForUpdate', 'prepareForStatusUpdate', 'prepareForApproval'] as const) {
  test(`no client can change the certificate that a host gets under its name (${verb})`, () => {
    const bearing = (rights: string): CertificateSigningRequest => {
      const object = request();
      return { ...object, metadata: { name: 'r', annotations: { [JOIN_RIGHTS_ANNOTATION]: rights } } };
    };
    const next = bearing('any');
    kind[verb]?.(next, bearing('given'), { now: 0, user: 'mallory' });
    assert.equal(next.metadata.annotations?.[JOIN_RIGHTS_ANNOTATION], 'given');
  });
}
