/**
 * Converts custom resources by the webhook of their definition (apiextensions-apiserver
 * pkg/apiserver/conversion/webhook_converter.go).
 */
import { internalError } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectMeta } from '../../../shared/kube/objects/meta.js';
import type { ConversionWebhook } from '../../kinds/kind.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';
import type { AdmissionWebhooks } from '../registry.js';

const REVIEW_GROUP = 'apiextensions.k8s.io';
const REVIEW_VERSIONS: ReadonlySet<string> = new Set(['v1', 'v1beta1']);
const TIMEOUT_MS = 30_000;
/** Bytes of the objects of one review, so that the answer does not exceed what the coordinator reads. */
const MAX_REVIEW_BYTES = 1024 * 1024;

export type CallsWebhook = Pick<AdmissionWebhooks, 'call' | 'uid'>;

/** Returns the objects in `apiVersion`, in their order. Throws a 500 that states why they cannot be converted. */
export async function convertByWebhook(
  webhooks: CallsWebhook | undefined,
  webhook: ConversionWebhook,
  objects: readonly KubeObject[],
  apiVersion: string,
): Promise<KubeObject[]> {
  const results = new Map<KubeObject, KubeObject>();
  for (const asked of reviews(objects.filter((object) => object.apiVersion !== apiVersion))) {
    const converted = await review(webhooks, webhook, asked, apiVersion);
    for (const [index, object] of asked.entries()) results.set(object, converted[index] ?? object);
  }
  return objects.map((object) => results.get(object) ?? object);
}

/** Splits the objects by their sizes. A larger object is alone. */
function reviews(objects: readonly KubeObject[]): KubeObject[][] {
  const parts: KubeObject[][] = [];
  let room = 0;
  for (const object of objects) {
    const size = JSON.stringify(object).length;
    if (size > room) {
      parts.push([]);
      room = MAX_REVIEW_BYTES;
    }
    parts.at(-1)?.push(object);
    room -= size;
  }
  return parts;
}

async function review(
  webhooks: CallsWebhook | undefined,
  { client, reviewVersions }: ConversionWebhook,
  objects: readonly KubeObject[],
  apiVersion: string,
): Promise<KubeObject[]> {
  const [first] = objects;
  const what = `conversion webhook for ${first?.apiVersion}, Kind=${first?.kind}`;
  const version = reviewVersions.find((each) => REVIEW_VERSIONS.has(each)) ?? 'v1';
  try {
    if (!webhooks) throw new Error('no webhooks are called here');
    const uid = webhooks.uid();
    const request = { uid, desiredAPIVersion: apiVersion, objects };
    const document = { apiVersion: `${REVIEW_GROUP}/${version}`, kind: 'ConversionReview', request };
    return convertedObjects(await webhooks.call(client, document, TIMEOUT_MS), document);
  } catch (error) {
    throw internalError(`${what} failed: ${(error as Error).message}`);
  }
}

interface ReviewDocument {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: readonly KubeObject[] };
}

/** Returns the objects of an answer. Throws an Error if the answer is not one to this review. */
export function convertedObjects(
  answer: unknown,
  { apiVersion, kind, request }: ReviewDocument,
): KubeObject[] {
  if (!isJsonMap(answer) || !isJsonMap(answer.response)) throw new Error('no response provided');
  const { response } = answer;
  if (answer.apiVersion !== apiVersion || answer.kind !== kind) {
    const received = `${String(answer.apiVersion)}, Kind=${String(answer.kind)}`;
    throw new Error(`expected webhook response of ${apiVersion}, Kind=${kind}, got ${received}`);
  }
  if (response.uid !== request.uid) {
    throw new Error(
      `expected response.uid=${JSON.stringify(request.uid)}, got ${JSON.stringify(response.uid)}`,
    );
  }
  const { status, message } = isJsonMap(response.result) ? response.result : {};
  if (status !== 'Success') {
    throw new Error(String(message || `response.result.status was '${String(status ?? '')}', not 'Success'`));
  }
  const converted = Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
  if (converted.length !== request.objects.length) {
    throw new Error(`the webhook returned ${converted.length} objects, expected ${request.objects.length}`);
  }
  return request.objects.map((original, index) => {
    const problem = checked(original, converted[index], request.desiredAPIVersion);
    if (typeof problem === 'string') {
      throw new Error(`the webhook returned an invalid object at index ${index}: ${problem}`);
    }
    return problem;
  });
}

/** Returns the converted object with the metadata of the original, or why it is invalid. */
function checked(original: KubeObject, converted: unknown, apiVersion: string): KubeObject | string {
  if (!isJsonMap(converted)) return 'it is not an object';
  if (converted.apiVersion !== apiVersion) {
    return `invalid groupVersion (expected ${apiVersion}, received ${String(converted.apiVersion)})`;
  }
  if (converted.kind !== original.kind) {
    return `invalid kind (expected ${original.kind}, received ${String(converted.kind)})`;
  }
  const { metadata } = converted;
  if (!isJsonMap(metadata)) return 'missing metadata in converted object';
  for (const field of ['name', 'namespace', 'uid'] as const) {
    const [before, after] = [original.metadata[field] ?? '', metadata[field] ?? ''];
    if (before !== after) return `must have the same ${field}: ${before} != ${String(after)}`;
  }
  for (const field of ['labels', 'annotations'] as const) {
    if (!isTextMap(metadata[field] ?? {})) return `metadata.${field} must have strings as values`;
  }
  return { ...(converted as JsonMap & KubeObject), metadata: restored(original.metadata, metadata) };
}

function isTextMap(value: unknown): boolean {
  return isJsonMap(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** A webhook can only change labels and annotations of the metadata. */
function restored(original: ObjectMeta, { labels, annotations }: JsonMap): ObjectMeta {
  const { labels: _labels, annotations: _annotations, ...kept } = original;
  return { ...kept, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) } as ObjectMeta;
}
