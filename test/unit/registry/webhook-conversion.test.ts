/** Answers of conversion webhooks (apiextensions-apiserver pkg/apiserver/conversion/webhook_converter_test.go). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convertedObjects } from '../../../coordinator/registry/views/webhook-conversion.js';

const ORIGINAL = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', namespace: 'd', uid: 'u', generation: 3, labels: { old: 'x' } },
};
const REVIEW = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: { uid: '7', desiredAPIVersion: 'example.com/v2', objects: [ORIGINAL] },
};
const CONVERTED = { ...ORIGINAL, apiVersion: 'example.com/v2', spec: { size: 1 } };

const metadata = (change: object) => ({ ...CONVERTED, metadata: { ...CONVERTED.metadata, ...change } });

function answer(change: object, review: object = {}): unknown {
  const response = { uid: '7', result: { status: 'Success' }, convertedObjects: [CONVERTED], ...change };
  return { apiVersion: REVIEW.apiVersion, kind: 'ConversionReview', response, ...review };
}

const REFUSED: [title: string, answer: unknown, error: RegExp][] = [
  ['no object', null, /no response provided/],
  ['no response', answer({}, { response: undefined }), /no response provided/],
  [
    'another kind',
    answer({}, { kind: 'AdmissionReview' }),
    /expected webhook response of apiextensions\.k8s\.io\/v1, Kind=ConversionReview, got .*AdmissionReview/,
  ],
  ['another review', answer({ uid: '8' }), /expected response\.uid="7", got "8"/],
  [
    'a failure',
    answer({ result: { status: 'Failure', message: 'no such field' } }),
    /^Error: no such field$/,
  ],
  ['a failure without a message', answer({ result: {} }), /response\.result\.status was '', not 'Success'/],
  ['too few objects', answer({ convertedObjects: [] }), /returned 0 objects, expected 1/],
  ['no list', answer({ convertedObjects: {} }), /returned 0 objects, expected 1/],
  ['a text', answer({ convertedObjects: ['x'] }), /invalid object at index 0: it is not an object/],
  [
    'another version',
    answer({ convertedObjects: [ORIGINAL] }),
    /invalid groupVersion \(expected example\.com\/v2, received example\.com\/v1\)/,
  ],
  [
    'another kind of object',
    answer({ convertedObjects: [{ ...CONVERTED, kind: 'Gadget' }] }),
    /invalid kind \(expected Widget, received Gadget\)/,
  ],
  [
    'no metadata',
    answer({ convertedObjects: [{ ...CONVERTED, metadata: undefined }] }),
    /missing metadata in converted object/,
  ],
  [
    'another name',
    answer({ convertedObjects: [metadata({ name: 'b' })] }),
    /must have the same name: a != b/,
  ],
  ['another uid', answer({ convertedObjects: [metadata({ uid: 'w' })] }), /must have the same uid: u != w/],
  [
    'labels that are no texts',
    answer({ convertedObjects: [metadata({ labels: { a: 1 } })] }),
    /metadata\.labels must have strings as values/,
  ],
];

describe('an answer is refused with', () => {
  for (const [title, given, error] of REFUSED) {
    test(title, () => assert.throws(() => convertedObjects(given, REVIEW), error));
  }
});

test('of the metadata, only labels and annotations can change', () => {
  const changed = metadata({
    generation: 9,
    finalizers: ['x'],
    labels: { new: 'y' },
    annotations: { a: 'b' },
  });
  assert.deepEqual(convertedObjects(answer({ convertedObjects: [changed] }), REVIEW), [
    {
      ...CONVERTED,
      metadata: {
        ...{ name: 'a', namespace: 'd', uid: 'u', generation: 3 },
        ...{ labels: { new: 'y' }, annotations: { a: 'b' } },
      },
    },
  ]);
});
