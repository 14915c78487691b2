/** validation.json: requests to the HTTP API of a coordinator in this process, and its responses. */
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import { apiVersionOf, type Kind } from '../../../coordinator/kinds/kind.js';
import { TEMPLATE_GENERATION_ANNOTATION } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { type CallAnswer, call } from '../../harness/api/https-call.js';
import {
  type ConformanceCase,
  type OpenTable,
  requireCaseKeys,
  requireKeys,
  requireOneOf,
  type Table,
  type Verdict,
} from './conformance-table.js';

type SentObject = KubeObject & { status?: Record<string, unknown> };
type Cause = { field?: string; reason?: string };

interface Expected {
  accepted: boolean;
  code?: number;
  reason?: string;
  errors?: Cause[];
  generationDelta?: number;
  templateGenerationDelta?: number;
  statusUnchanged?: boolean;
}

const EXPECTATIONS = [
  'accepted',
  'code',
  'reason',
  'errors',
  'generationDelta',
  'templateGenerationDelta',
  'statusUnchanged',
];

/** The namespace of one case. */
interface Place {
  api: TestApi;
  /** Path of the collection that the case's object belongs to. */
  collection: string;
  object: SentObject;
  oldObject: SentObject;
}

/** The response under test, and the object before that request. */
interface Trial {
  answer: CallAnswer;
  before?: SentObject;
}

function kindOf(object: KubeObject): Kind {
  const kind = ALL_KINDS.find(
    (candidate) => candidate.kind === object.kind && apiVersionOf(candidate) === object.apiVersion,
  );
  if (!kind) throw new Error(`unknown kind ${object.apiVersion} ${object.kind}`);
  return kind;
}

function collectionOf(kind: Kind, namespace: string): string {
  const root = kind.group ? `/apis/${apiVersionOf(kind)}` : `/api/${kind.version}`;
  return kind.namespaced ? `${root}/namespaces/${namespace}/${kind.resource}` : `${root}/${kind.resource}`;
}

/** Sends a request that prepares the one under test. Throws if it fails. */
async function prepare(api: TestApi, line: string, body?: unknown): Promise<SentObject> {
  const answer = await call(api, line, { body });
  if (answer.code >= 300) throw new Error(`${line} while preparing: ${answer.code} ${answer.text}`);
  return answer.json<SentObject>();
}

async function update({ api, collection, object, oldObject }: Place): Promise<Trial> {
  const before = await prepare(api, `POST ${collection}`, oldObject);
  return { before, answer: await call(api, `PUT ${collection}/${before.metadata.name}`, { body: object }) };
}

async function updateStatus({ api, collection, object, oldObject }: Place): Promise<Trial> {
  const { metadata } = await prepare(api, `POST ${collection}`, oldObject);
  const line = `PUT ${collection}/${metadata.name}/status`;
  return { before: await prepare(api, line, oldObject), answer: await call(api, line, { body: object }) };
}

/** The resourceVersion in the request is one write old. */
async function updateStale({ api, collection, object, oldObject }: Place): Promise<Trial> {
  const stale = await prepare(api, `POST ${collection}`, oldObject);
  const line = `PUT ${collection}/${stale.metadata.name}`;
  const annotations = { ...stale.metadata.annotations, touched: 'once' };
  const before = await prepare(api, line, { ...stale, metadata: { ...stale.metadata, annotations } });
  const { resourceVersion = '' } = stale.metadata;
  const body = { ...object, metadata: { ...object.metadata, resourceVersion } };
  return { before, answer: await call(api, line, { body }) };
}

function post(query = ''): (place: Place) => Promise<Trial> {
  return async ({ api, collection, object }) => ({
    answer: await call(api, `POST ${collection}${query}`, { body: object }),
  });
}

const OPERATIONS: Readonly<Record<string, (place: Place) => Promise<Trial>>> = {
  create: post(),
  createStrict: post('?fieldValidation=Strict'),
  createIgnore: post('?fieldValidation=Ignore'),
  createTwice: async (place) => {
    await prepare(place.api, `POST ${place.collection}`, place.object);
    return await post()(place);
  },
  update,
  updateStatus,
  updateStale,
  updateMissing: async ({ api, collection, object }) => ({
    answer: await call(api, `PUT ${collection}/${object.metadata.name}`, { body: object }),
  }),
};

function templateGeneration(object: KubeObject): number {
  return Number(object.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION] ?? 0);
}

/** The values that the case's expectations are compared with. */
function outcome({ answer, before }: Trial, sent: SentObject): Record<string, unknown> {
  if (answer.code >= 300) {
    const status = answer.json<{ reason?: string; message?: string; details?: { causes?: Cause[] } }>();
    const causes = (status.details?.causes ?? []).map(({ field, reason }) => ({ field, reason }));
    return {
      accepted: false,
      code: answer.code,
      reason: status.reason,
      errors: causes,
      message: status.message,
    };
  }
  const object = answer.json<SentObject>();
  const counters = Object.entries(sent.status ?? {}).filter(
    ([, value]) => typeof value === 'number' && value !== 0,
  );
  return {
    accepted: true,
    generationDelta: (object.metadata.generation ?? 0) - (before?.metadata.generation ?? 0),
    templateGenerationDelta: templateGeneration(object) - (before ? templateGeneration(before) : 0),
    statusUnchanged: counters.every(([name, value]) => object.status?.[name] !== value),
  };
}

function asSet(causes: unknown): string {
  return JSON.stringify(
    [...new Set((causes as Cause[]).map(({ field, reason }) => `${reason} ${field}`))].sort(),
  );
}

function judge(expected: Expected, got: Record<string, unknown>): Verdict {
  const passed = Object.entries(expected).every(([key, value]) =>
    key === 'errors' ? asSet(value) === asSet(got.errors ?? []) : got[key] === value,
  );
  return { passed, got };
}

function checkForm(testCase: ConformanceCase): void {
  requireCaseKeys(testCase, ['operation', 'object', 'oldObject'], EXPECTATIONS);
  requireOneOf(testCase.operation, Object.keys(OPERATIONS), 'operation');
  for (const error of (testCase.expected.errors ?? []) as Cause[]) {
    requireKeys(error, ['field', 'reason'], 'an expected error');
  }
}

/** Cluster-scoped objects are not isolated by the namespace, so the case's objects are deleted explicitly. */
async function clear(place: Place, kind: Kind): Promise<void> {
  if (kind.namespaced) return;
  for (const { metadata } of [place.object, place.oldObject]) {
    if (metadata.name) await call(place.api, `DELETE ${place.collection}/${metadata.name}`);
  }
}

async function runCase(api: TestApi, testCase: ConformanceCase, namespace: string): Promise<Verdict> {
  checkForm(testCase);
  const object = testCase.object as SentObject;
  const oldObject = (testCase.oldObject ?? object) as SentObject;
  const kind = kindOf(object);
  await prepare(api, 'POST /api/v1/namespaces', { metadata: { name: namespace } });
  const place = { api, collection: collectionOf(kind, namespace), object, oldObject };
  try {
    const trial = await OPERATIONS[String(testCase.operation)]?.(place);
    if (!trial) throw new Error(`operation ${testCase.operation} is unknown`);
    return judge(testCase.expected as unknown as Expected, outcome(trial, object));
  } finally {
    await clear(place, kind);
  }
}

async function open(): Promise<OpenTable> {
  const api = await startTestApi();
  let count = 0;
  return {
    run: (testCase) => {
      count += 1;
      return runCase(api, testCase, `case-${count}`);
    },
    close: () => api.stop(),
  };
}

/** Adapter of validation.json. */
export const VALIDATION: Table = { concurrency: 4, open };
