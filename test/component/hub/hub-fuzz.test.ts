/**
 * A hostile host sends nearly valid and arbitrary frames in random order to a real hub. Every stored Node, Pod and Event
 * must pass the API's own validation, and objects of other nodes and an administrator's labels and taints must not change.
 * A failure names its seed; `DRAW=random` draws other frames, `EVERYNODE_FUZZ_RUNS=1000` draws more.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eventKind, nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import { checkFields } from '../../../coordinator/kinds/schema/check-fields.js';
import { validateObjectMeta } from '../../../coordinator/kinds/validation/object-meta-validation.js';
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import type { FromAgent } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import { until } from '../../harness/basics/wait-until.js';
import { type HubFixture, withHub } from '../../harness/hub/hub-fixture.js';
import {
  type FrameSubjects,
  type MessageOf,
  MUTATED_HELLO,
  MUTATED_MESSAGE,
  validHello,
} from '../../harness/hub/mutated-frames.js';
import { type RawAgent, rawAgent } from '../../harness/hub/raw-agent.js';
import { nodeObject } from '../../harness/objects/object-builders.js';

const numRuns = Number(process.env.EVERYNODE_FUZZ_RUNS ?? 80);
const SEED = process.env.DRAW === 'random' ? {} : { seed: 20_261_123 };
const ADMIN_TAINT: Taint = { key: 'admin', value: 'kept', effect: 'NoExecute' };
const ADMIN_LABELS = { 'example.com/admin': 'kept', zone: 'of-the-admin' };

/** Errors that the hub logs and that are not rejections are defects of the hub. */
const faults: string[] = [];
const note = (fields: Readonly<Record<string, unknown>> | string, msg?: string): void => {
  const { err } = typeof fields === 'string' ? {} : fields;
  const isRefusal = err instanceof Error && err.name === 'ApiError';
  if (err instanceof Error && !isRefusal) faults.push(`${msg}: ${err.stack}`);
};
const log: Logger = { debug: note, info: note, warn: note, error: note, child: () => log };

/** The forms that upstream's clients decode; independent of the code under test. */
const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?$/;
const TIME = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z$/;

function checkTexts(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (/(Time|Timestamp|At)$/.test(key) && typeof each === 'string')
      assert.match(each, TIME, `${path}.${key}`);
    if (/\.(capacity|allocatable|requests|limits)$/.test(path)) assert.match(String(each), QUANTITY, path);
    checkTexts(each, `${path}.${key}`);
  }
}

/** Throws for an object, written after this revision, that the API would reject. */
async function checkStored<T extends KubeObject>(
  { controlPlane: plane }: HubFixture,
  kind: Kind<T>,
  after: number,
): Promise<void> {
  const { records } = await plane.registry.list(kind);
  for (const record of records.filter(({ revision }) => revision > after)) {
    const object: T = JSON.parse(JSON.stringify(record.object()));
    const { strictFindings, typeErrors } = checkFields(kind.schema, object);
    const errors = [
      ...validateObjectMeta(object.metadata, kind),
      ...kind.validate(object),
      ...(kind.validateStatusUpdate?.(object, object) ?? []),
    ];
    const found = [
      ...strictFindings,
      ...typeErrors,
      ...errors.map(({ field, message }) => `${field}: ${message}`),
    ];
    assert.deepEqual(found, [], `${kind.kind} ${object.metadata.name}`);
    checkTexts(object, kind.kind);
  }
}

/** The other node, its Pods and their Events as JSON: no frame of the fuzzed host may change them. */
async function othersOf({ controlPlane: plane }: HubFixture): Promise<string> {
  const [nodes, pods, events] = await Promise.all([
    plane.registry.list(nodeKind, { fieldSelector: 'metadata.name=other' }),
    plane.registry.list(podKind, { fieldSelector: 'spec.nodeName=other' }),
    plane.registry.list(eventKind),
  ]);
  const about = events.records
    .map((record) => record.object())
    .filter(({ involvedObject }) => ['other', 'bystander'].includes(involvedObject.name ?? ''));
  return JSON.stringify(
    [...nodes.records, ...pods.records].map((record) => record.object()).concat(about as never),
  );
}

async function untilQuiet({ controlPlane: plane }: HubFixture, agent: RawAgent, acks: number): Promise<void> {
  const count = () => agent.received.filter(({ kind }) => kind === 'statusAck').length;
  await until(() => agent.closed !== undefined || count() >= acks || 'no acknowledgement');
  await plane.settle();
}

/**
 * Connects, sends the hello and the messages, and reconnects with a valid hello when the hub closed the link. Returns
 * the number of accepted messages.
 */
async function play(
  fixture: HubFixture,
  subjects: FrameSubjects,
  hello: unknown,
  messages: MessageOf[],
): Promise<number> {
  let accepted = 0;
  let agent = await rawAgent(fixture, subjects.node);
  const greet = async (message: unknown) => {
    agent.sendRaw(encodeMessage(message as FromAgent));
    const isAnswered = () =>
      agent.received.some(({ kind }) => kind === 'welcome') || agent.closed !== undefined;
    await until(() => isAnswered() || 'no answer to a hello');
  };
  await greet(hello);
  for (const message of messages) {
    if (agent.closed !== undefined) {
      agent = await rawAgent(fixture, subjects.node);
      await greet(validHello(subjects));
    }
    const before = agent.received.filter(({ kind }) => kind === 'statusAck').length;
    const made = message(subjects);
    const isReport = typeof made === 'object' && made !== null && Reflect.get(made, 'kind') === 'status';
    agent.sendRaw(made instanceof Uint8Array ? made : encodeMessage(made as FromAgent));
    await untilQuiet(fixture, agent, before + (isReport ? 1 : 0));
    if (agent.closed === undefined) accepted += 1;
  }
  agent.socket.terminate();
  await until(() => agent.closed !== undefined);
  return accepted;
}

const NOISE: fc.Arbitrary<MessageOf> = fc.uint8Array({ maxLength: 60 }).map(
  (bytes): MessageOf =>
    () =>
      Buffer.from(bytes),
);
const MESSAGES = fc.array(
  fc.oneof({ weight: 30, arbitrary: MUTATED_MESSAGE }, { weight: 1, arbitrary: NOISE }),
  {
    minLength: 1,
    maxLength: 10,
  },
);

withHub(
  'no frame of a host stores an invalid object, or changes objects of other nodes or of an administrator',
  async (fixture) => {
    const { registry } = fixture.controlPlane;
    const other = await rawAgent(fixture, 'other');
    const foreign = await fixture.boundPod('bystander', 'other');
    other.sendRaw(encodeMessage(validHello({ node: 'other', own: foreign, foreign })));
    await other.waitFor('welcome');
    await fixture.controlPlane.settle();
    const before = await othersOf(fixture);
    let runs = 0;
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(MUTATED_HELLO, MESSAGES, async (hello, messages) => {
        runs += 1;
        const node = `fuzzed-${runs}`;
        const began = await fixture.controlPlane.store.revision();
        await registry.create(
          nodeKind,
          undefined,
          nodeObject(node, { labels: ADMIN_LABELS, taints: [ADMIN_TAINT] }),
        );
        const subjects = { node, own: await fixture.boundPod(`own-${runs}`, node), foreign };
        await fixture.controlPlane.settle();
        accepted += await play(fixture, subjects, hello(subjects), messages);
        await fixture.controlPlane.settle();
        for (const kind of [nodeKind, podKind, eventKind] as Kind<KubeObject>[])
          await checkStored(fixture, kind, began);
        const stored: Node = await fixture.node(node);
        for (const [key, value] of Object.entries(ADMIN_LABELS))
          assert.equal(stored.metadata.labels?.[key], value);
        assert.ok(
          stored.spec?.taints?.some((taint) => JSON.stringify(taint) === JSON.stringify(ADMIN_TAINT)),
        );
        assert.equal(await othersOf(fixture), before);
        assert.deepEqual(faults, []);
        await registry.delete(nodeKind, { name: node });
      }),
      { numRuns, ...SEED },
    );
    assert.equal(other.closed, undefined, 'the other host is still connected');
    assert.ok(accepted > runs, `most messages end the link: of ${runs} runs ${accepted} were accepted`);
  },
  undefined,
  log,
);
