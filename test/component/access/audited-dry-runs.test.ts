/** Dry runs in the audit log: only a request that stored nothing is one. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { AuditFile } from '../../../coordinator/api/audit/audit-file.js';
import { type AuditEvent, DRY_RUN_ANNOTATION } from '../../../shared/kube/access/audit-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { startAccessFixture } from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { untilPasses } from '../../harness/basics/wait-until.js';

const CORE = '/api/v1/namespaces/default';
const LIST = '/apis/fleet.everynode.dev/v1/auditevents';
const DRY_RUN = { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] };
const POD = {
  metadata: { name: 'p' },
  spec: { nodeName: 'n', containers: [{ name: 'main', image: 'till:1' }] },
};

/** Returns `verb resource[/subresource]` of the events that match the query. */
async function audited(context: { after(stop: () => Promise<void>): void }) {
  const path = join(temporaryDirectory(), 'audit.log');
  const audit = new AuditFile({ path, maxBytes: 1e9, maxFiles: 1 }, silentLogger);
  const fixture = await startAccessFixture({ audit });
  context.after(() => fixture.stop());
  const events = async (query: string) =>
    (await call(fixture.api, `GET ${LIST}?${query}`)).json<{ items: AuditEvent[] }>().items;
  const send = async (line: string, code: number, body?: unknown) => {
    const answer = await call(fixture.api, line, body === undefined ? {} : { body });
    assert.equal(answer.code, code, `${line}: ${answer.text}`);
  };
  return { audit, send, events };
}

const text = ({ verb, objectRef: { resource, subresource } = {} }: AuditEvent) =>
  `${verb} ${resource}${subresource ? `/${subresource}` : ''}`;

test('a dry run in a query or in a body is no change', async (context) => {
  const { send, events } = await audited(context);
  await send(`POST ${CORE}/configmaps`, 201, { metadata: { name: 'shop' } });
  await send(`POST ${CORE}/pods`, 201, POD);
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
  await send(`DELETE ${CORE}/configmaps/shop`, 200, DRY_RUN);
  await send(`DELETE ${CORE}/configmaps`, 200, DRY_RUN);
  await send(`DELETE ${CORE}/configmaps/shop?dryRun=All`, 200);
  await send(`POST ${CORE}/pods/p/eviction`, 201, { ...eviction, deleteOptions: DRY_RUN });
  await send(`POST ${CORE}/configmaps?dryRun=All`, 201, { metadata: { name: 'other' } });
  await untilPasses(async () => {
    const all = (await events('code=2xx')).filter(({ verb }) => verb !== 'list');
    const dry = all.filter(({ annotations }) => annotations?.[DRY_RUN_ANNOTATION] === 'true');
    assert.deepEqual(dry.map(text), [
      'delete configmaps',
      'deletecollection configmaps',
      'delete configmaps',
      'create pods/eviction',
      'create configmaps',
    ]);
  }, 5_000);
  assert.deepEqual((await events('changes=true')).map(text), ['create configmaps', 'create pods']);
});

test('a request whose handler ignores dryRun, and acts, is a change', async (context) => {
  const { audit, send, events } = await audited(context);
  await send(`POST ${CORE}/serviceaccounts`, 201, { metadata: { name: 'robot' } });
  await send(`POST ${CORE}/serviceaccounts/robot/token?dryRun=All`, 201, { spec: { audiences: [] } });
  await untilPasses(async () => {
    const changes = await events('changes=true');
    assert.deepEqual(changes.map(text), ['create serviceaccounts', 'create serviceaccounts/token']);
  }, 5_000);
  // As an earlier version recorded `kubectl exec` with this parameter.
  const [made] = await events('changes=true');
  assert.ok(made);
  audit.record({
    ...made,
    verb: 'get',
    objectRef: { resource: 'pods', subresource: 'exec', name: 'p' },
    annotations: { [DRY_RUN_ANNOTATION]: 'true' },
  });
  assert.deepEqual((await events('changes=true&verb=get')).map(text), ['get pods/exec']);
});
