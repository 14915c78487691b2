import assert from 'node:assert/strict';
import { test } from 'node:test';
import { negotiateAnswer } from '../../../coordinator/api/http/media-type.js';

const ANSWERS: [string | undefined, string, string?][] = [
  [undefined, 'object'],
  ['*/*', 'object'],
  ['application/json, */*', 'object'],
  ['application/vnd.kubernetes.protobuf,application/json', 'object'],
  ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'table'],
  ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'table', 'v1beta1'],
  ['application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io', 'metadata', 'v1beta1'],
  ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'object'],
  ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'metadata'],
];

for (const [accept, form, metaVersion = 'v1'] of ANSWERS) {
  test(`Accept: ${accept} is answered as ${form} ${metaVersion}`, () =>
    assert.deepEqual(negotiateAnswer(accept), { form, metaVersion }));
}

test('a client that takes only protobuf gets 406', () => {
  assert.throws(() => negotiateAnswer('application/vnd.kubernetes.protobuf'), { reason: 'NotAcceptable' });
});
