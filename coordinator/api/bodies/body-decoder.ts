/** Decodes request bodies in JSON, YAML, and Kubernetes protobuf for the few kinds that clients send in it. */
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { parseMediaType } from '../http/media-type.js';
import { decodeProtobuf } from './protobuf-body.js';
import { type RepeatedKey, repeatedKeysOfJson } from './repeated-keys.js';
import { parseYamlText } from './yaml-body.js';

/** kube-apiserver's request limit, 3 MiB. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** No Kubernetes object is nested as deeply. The limit protects recursive code from a stack overflow. */
export const MAX_NESTING = 200;
/** The YAML parser needs seconds per megabyte. kubectl and helm send JSON, so only manually sent manifests are YAML. */
export const MAX_YAML_BYTES = 128 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Returns the greatest depth of `[` and `{` outside of strings. Stops counting above `limit`. */
export function nestingDepth(bytes: Uint8Array, limit: number): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < bytes.length && deepest <= limit; at += 1) {
    const byte = bytes[at] ?? 0;
    if (inString && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) inString = !inString;
    else if (inString) continue;
    else if (OPENING.has(byte)) deepest = Math.max(deepest, ++depth);
    else if (CLOSING.has(byte)) depth -= 1;
  }
  return deepest;
}

function refuseDepth(): never {
  throw badRequest(`the body is nested more than ${MAX_NESTING} levels deep`);
}

function parseJson(bytes: Buffer): DecodedBody {
  if (nestingDepth(bytes, MAX_NESTING) > MAX_NESTING) refuseDepth();
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return { value, syntax: 'json', repeatedKeys: () => repeatedKeysOfJson(bytes) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(`the body of the request is not valid JSON: ${why}`);
  }
}

/**
 * Each YAML level needs at least two columns: an indentation, or `- ` and `? `, several of which can open levels on one
 * line.
 */
const DEEP_LINE = new RegExp(`^[ \\t?:-]{${2 * MAX_NESTING}}`, 'm');

/**
 * Runs before parsing, because the parser recurses, and a failing regular expression deep in the stack would end the
 * process.
 */
function refuseDeepYaml(text: string): void {
  const brackets = nestingDepth(Buffer.from(text.replaceAll('"', '')), MAX_NESTING);
  if (brackets > MAX_NESTING || DEEP_LINE.test(text)) refuseDepth();
}

function parseYamlBody(bytes: Buffer): DecodedBody {
  // Server-side apply sends JSON under a YAML content type.
  if (/^\s*\{/.test(bytes.toString('latin1', 0, 64))) return parseJson(bytes);
  if (bytes.length > MAX_YAML_BYTES) throw tooLarge(`limit for YAML is ${MAX_YAML_BYTES}`);
  const text = bytes.toString('utf8');
  refuseDeepYaml(text);
  try {
    return { ...parseYamlText(text), syntax: 'yaml' };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(`the body of the request is not valid YAML: ${why}`);
  }
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Returns 413 `Request entity too large: …`. */
function tooLarge(limit: string): ApiError {
  return new ApiError('RequestEntityTooLarge', `Request entity too large: ${limit}`);
}

/** Returns 415 with kube-apiserver's message (`pkg/endpoints/handlers/negotiation/errors.go`). */
export function unsupportedMediaType(supported: readonly string[]): ApiError {
  return new ApiError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );
}

export interface DecodedBody {
  value: unknown;
  syntax: 'json' | 'yaml' | 'protobuf';
  /**
   * Returns the keys that occur twice in one object, for which `value` contains the last value. Parses the whole body
   * again.
   */
  repeatedKeys: () => RepeatedKey[];
}

/**
 * Returns the decoded body, or undefined if there is none. Without a content type the body is JSON. Throws 400, 413,
 * 415.
 */
export function readBody(
  bytes: Buffer | undefined,
  contentType: string | undefined,
): DecodedBody | undefined {
  if (!bytes || bytes.length === 0) return undefined;
  const { type } = parseMediaType(contentType ?? 'application/json');
  switch (type) {
    case 'application/json':
    case 'application/json-patch+json':
    case 'application/merge-patch+json':
    case 'application/strategic-merge-patch+json':
    case '*/*':
      return parseJson(bytes);
    case 'application/yaml':
    case 'application/apply-patch+yaml':
      return parseYamlBody(bytes);
    case PROTOBUF:
      return { value: decodeProtobuf(bytes), syntax: 'protobuf', repeatedKeys: () => [] };
    default:
      throw unsupportedMediaType(['application/json', 'application/yaml', PROTOBUF]);
  }
}

/** Returns the value of the body, or undefined if there is none. Throws like `readBody`. */
export function decodeBody(bytes: Buffer | undefined, contentType: string | undefined): unknown {
  return readBody(bytes, contentType)?.value;
}
