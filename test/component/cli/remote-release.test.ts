/** `everynode release` with a kubeconfig: users with the right add releases and change the trust through the API. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ApiDeps, ApiRequest } from '../../../coordinator/api/http/api-context.js';
import { readRequest } from '../../../coordinator/api/http/request-info.js';
import { handleReleaseTrust } from '../../../coordinator/api/releases/release-resources.js';
import {
  RELEASE_TRUST_PATH,
  RELEASES_PATH,
  updateTrust,
} from '../../../coordinator/api/releases/release-trust.js';
import { ReleaseUploads } from '../../../coordinator/api/releases/release-uploads.js';
import { requireSpace } from '../../../coordinator/api/releases/uploaded-file.js';
import { VerifiedReleases } from '../../../coordinator/api/releases/verified-releases.js';
import type { ApiClient } from '../../../coordinator/cli/client/api-client.js';
import { addRelease } from '../../../coordinator/cli/releases/add-release.js';
import { sendRelease } from '../../../coordinator/cli/releases/send-release.js';
import { releasePaths } from '../../../coordinator/coordinator-data-dir.js';
import { type AuditEvent, CHANGES_ANNOTATION } from '../../../shared/kube/access/audit-types.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { VERSION } from '../../../shared/process/release-version.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { agentArchive, makeRelease, newReleaseKey, signRelease } from '../../harness/hosts/test-release.js';
import {
  type CoordinatorProcess,
  runEverynode,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

const FLEET = 'fleet.everynode.dev';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const RULES = [
  { apiGroups: [FLEET], resources: ['releases'], verbs: ['create'] },
  { apiGroups: [FLEET], resources: ['releasetrust'], verbs: ['create', 'list'] },
];

describe('everynode release by a user of the API', () => {
  const folder = temporaryDirectory();
  const data = join(folder, 'data');
  const places = releasePaths(data);
  const key = newReleaseKey();
  let coordinator: CoordinatorProcess;
  let api: CoordinatorApi;

  before(async () => {
    // As after a coordinator that was killed during an upload.
    const leftover = join(places.directory, '.adding-99999999');
    mkdirSync(leftover, { recursive: true });
    utimesSync(leftover, 1, 1);
    coordinator = await startCoordinatorProcess(data);
    api = new CoordinatorApi(coordinator.kubeconfig);
    await api.request('POST', `${RBAC}/clusterroles`, { metadata: { name: 'releaser' }, rules: RULES });
    await api.request('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: 'releaser' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'releaser' },
      subjects: ['ann', 'eve'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
    });
    for (const name of ['ann', 'bob', 'eve']) {
      const { stdout } = await runEverynode(['user', 'add', name, '--data', data]);
      writeFileSync(join(folder, name), stdout, { mode: 0o600 });
    }
  });
  after(async () => {
    api.close();
    await coordinator.end('SIGKILL');
  });

  const releaseAs = (user: string, ...words: string[]) =>
    runEverynode(['release', ...words, '--kubeconfig', join(folder, user)]);
  const release = (version: string, signer = key, program?: string) =>
    makeRelease(join(folder, `release-${version}`), version, signer, program);
  const versions = () => readdirSync(places.directory).sort();
  const eventsOf = async (user: string) => {
    const path = `/apis/${FLEET}/v1/auditevents?user=${user}&changes=true`;
    return (await api.request<{ items: AuditEvent[] }>('GET', path)).items;
  };
  const sendAs = async (user: string, query: string, body: unknown) => {
    const client = new CoordinatorApi(readFileSync(join(folder, user), 'utf8'));
    try {
      const answer = await client.send('POST', `${RELEASES_PATH}${query}`, body);
      const { message = '' } = answer.body as { message?: string };
      return { ...answer, message };
    } finally {
      client.close();
    }
  };

  test('a user without the right changes nothing, and the refusal names the rule', async () => {
    const source = release('1.0.0');
    for (const words of [['add', source], ['trust', join(source, 'release.pub')], ['floor']]) {
      const { code, stderr } = await releaseAs('bob', ...words);
      assert.equal(code, 5, stderr);
      assert.match(stderr, /Forbidden.*User "bob" cannot (create|list) resource "release(s|trust)"/);
      assert.match(stderr, /rule \{apiGroups: \["fleet\.everynode\.dev"\], resources: \["release/);
    }
    assert.deepEqual([versions(), existsSync(places.trustFile)], [[], false]);
  });

  test('a user with the right adds a release, which hosts can fetch at once', async () => {
    // Larger than one piece.
    const source = release('1.1.0', key, randomBytes(2 ** 21).toString('latin1'));
    const { code, stdout, stderr } = await releaseAs('ann', 'add', source);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /sending it to https:.*\n.*signed by the key SHA256:\S+\.\nRelease 1\.1\.0 added/s);
    assert.deepEqual(versions(), ['1.1.0']);
    const archive = agentArchive('1.1.0');
    assert.deepEqual(
      readFileSync(join(places.directory, '1.1.0', archive)),
      readFileSync(join(source, archive)),
    );
    assert.ok(readFileSync(join(source, archive)).length > 2 ** 20, 'several pieces');
    assert.equal(await new VerifiedReleases(places).has('1.1.0'), true);
  });

  test('the audit log has one entry for a release, with user, version and the first trusted key', async () => {
    const events = await eventsOf('ann');
    const [changed] = JSON.parse(events[0]?.annotations?.[CHANGES_ANNOTATION] ?? '{}').fields ?? [];
    assert.match(JSON.stringify(changed), /"path":"spec.signedBy","after":"SHA256:\S+"/);
    const entries = events.map(({ verb, objectRef, responseStatus }) => [
      verb,
      objectRef?.resource,
      objectRef?.name,
      responseStatus.code,
    ]);
    assert.deepEqual(entries, [['create', 'releases', '1.1.0', 200]]);
  });

  test('the same release, and another of the key, can be added again', async () => {
    for (const version of ['1.1.0', '1.2.0'])
      assert.equal((await releaseAs('ann', 'add', release(version))).code, 0);
    assert.deepEqual(versions(), ['1.1.0', '1.2.0']);
  });

  test('a release of another key is refused until the key is trusted', async () => {
    const other = newReleaseKey();
    const source = release('1.3.0', other);
    const refused = await releaseAs('ann', 'add', source);
    assert.equal(refused.code, 5);
    assert.match(
      refused.stderr,
      /release-1\.3\.0 is refused: it is signed by the key SHA256:\S+, and this coordinator trusts .*release trust release\.pub\. Nothing was changed\.\n$/,
    );
    assert.deepEqual(versions(), ['1.1.0', '1.2.0']);
    const trusted = await releaseAs('ann', 'trust', join(source, 'release.pub'));
    assert.deepEqual([trusted.code, trusted.stderr], [0, '']);
    assert.equal((await releaseAs('ann', 'add', source)).code, 0);
    signRelease(source, key);
    assert.equal((await releaseAs('ann', 'trust', join(source, 'release.pub'))).code, 0);
    assert.equal(await new VerifiedReleases(places).has('1.3.0'), false);
  });

  test('the floor is set and shown, refuses older releases, and its change is in the audit log', async () => {
    assert.equal((await releaseAs('ann', 'floor')).stdout, 'Every version is allowed.\n');
    const raised = await releaseAs('ann', 'floor', '1.2.0');
    assert.deepEqual([raised.code, /^Warning: install\.sh installs version/.test(raised.stderr)], [0, true]);
    assert.equal((await releaseAs('ann', 'floor')).stdout, '1.2.0\n');
    const changes = (await eventsOf('ann'))
      .filter(({ objectRef }) => objectRef?.resource === 'releasetrust')
      .flatMap(({ annotations }) => JSON.parse(annotations?.[CHANGES_ANNOTATION] ?? '{}').fields ?? [])
      .filter(({ path }) => path === 'spec.floor');
    assert.deepEqual(changes, [{ path: 'spec.floor', after: '1.2.0' }]);
    const refused = await sendAs('ann', '', listOf(release('1.1.0')));
    assert.match(refused.message, /1\.1\.0 is older than 1\.2\.0, the oldest version/);
    assert.equal((await releaseAs('ann', 'floor', '0.0.0')).stdout, 'Every version is allowed.\n');
  });

  test('a modified file is refused, at the client and at the coordinator', async () => {
    const source = release('1.4.0');
    const list = listOf(source);
    const { upload, files } = (await sendAs('ann', '', list)).body as { upload: string; files: string[] };
    assert.deepEqual(files, [agentArchive('1.4.0')]);
    const [file = ''] = files;
    const piece = `?upload=${upload}&file=${file}&at=0`;
    const modified = Buffer.alloc(list.sizes[file] ?? 0);
    const wrong = await sendAs('ann', piece, modified);
    assert.deepEqual([wrong.code, /does not have the hash/.test(wrong.message)], [400, true]);
    assert.equal((await sendAs('ann', `?upload=${upload}`, {})).code, 400, 'the file is not complete');
    writeFileSync(join(source, file), 'modified');
    const { code, stderr } = await releaseAs('ann', 'add', source);
    assert.equal(code, 5);
    assert.match(stderr, /does not have the hash in SHA256SUMS/);
    assert.equal(versions().includes('1.4.0'), false);
  });

  const MALFORMED: [string, (list: ReturnType<typeof listOf>) => unknown, string, RegExp][] = [
    [
      'a list without a signature',
      ({ sums, sizes }) => ({ sums, sizes }),
      '',
      /signature: must be the text of/,
    ],
    [
      'a size above the limit',
      (list) => ({ ...list, sizes: mapped(list.sizes, 2 ** 30) }),
      '',
      /larger than 512 MiB/,
    ],
    ['no sizes', (list) => ({ ...list, sizes: {} }), '', /sizes: must have the bytes of everynode-agent/],
    ['an unknown field', (list) => ({ ...list, files: [] }), '', /unknown field "files"/],
    ['an unknown parameter', (list) => list, '?dryRun=All', /unknown parameter "dryRun"/],
    ['an upload that has ended', () => ({}), '?upload=abc', /the upload has ended: add the release again/],
  ];
  for (const [what, spoil, query, why] of MALFORMED) {
    test(`${what} is refused with a sentence`, async () => {
      const { code, message } = await sendAs('ann', query, spoil(listOf(release('1.5.0'))));
      assert.match(`${code} ${message}`, new RegExp(`^40[04] .*${why.source}`, 's'));
    });
  }

  test('pieces are taken in order, within the announced size, and from the user who began', async () => {
    const source = release('1.6.0');
    const [file = ''] = [agentArchive('1.6.0')];
    const { body } = await sendAs('ann', '', listOf(source));
    const { upload } = body as { upload: string };
    const bytes = readFileSync(join(source, file));
    const at = (offset: number) => `?upload=${upload}&file=${file}&at=${offset}`;
    const codes = [
      (await sendAs('ann', at(3), bytes.subarray(3))).code,
      (await sendAs('ann', at(0), Buffer.concat([bytes, Buffer.from('more')]))).code,
      (await sendAs('ann', `?upload=${upload}&file=..%2Fescaped&at=0`, bytes)).code,
      (await sendAs('eve', at(0), bytes)).code,
      (await sendAs('eve', '', listOf(source))).code,
      (await sendAs('ann', at(0), bytes.subarray(0, 3))).code,
      (await sendAs('ann', `?upload=${upload}`, {})).code,
      (await sendAs('ann', at(3), bytes.subarray(3))).code,
      (await sendAs('ann', `?upload=${upload}`, {})).code,
    ];
    assert.deepEqual(codes, [409, 400, 400, 404, 409, 200, 400, 200, 200]);
    assert.ok(versions().includes('1.6.0'));
  });

  test('a client that ends while it sends changes nothing, and the next one succeeds', async () => {
    const source = release('1.7.0');
    const { body } = await sendAs('ann', '', listOf(source));
    const { upload } = body as { upload: string };
    const file = agentArchive('1.7.0');
    const bytes = readFileSync(join(source, file)).subarray(0, 3);
    assert.equal((await sendAs('ann', `?upload=${upload}&file=${file}&at=0`, bytes)).code, 200);
    assert.equal(versions().includes('1.7.0'), false);
    assert.equal((await releaseAs('ann', 'add', source)).code, 0);
    assert.equal((await sendAs('ann', `?upload=${upload}&file=${file}&at=3`, bytes)).code, 404);
    assert.deepEqual(
      versions().filter((name) => name.startsWith('.') || name === '1.7.0'),
      ['1.7.0'],
    );
  });

  test('an upload without pieces ends after five minutes, and a stop of the coordinator ends it', async () => {
    const directory = join(folder, 'idle');
    const clock = new ManualClock();
    const uploads = new ReleaseUploads(releasePaths(directory), { clock, log: silentLogger });
    const source = release('1.8.0');
    const { sizes, ...list } = listOf(source);
    const file = agentArchive('1.8.0');
    const begin = async () => (await uploads.begin('ann', list, new Map(Object.entries(sizes)))).upload;
    const send = (id: string, at: number) =>
      uploads.receive({ id, user: 'ann' }, { file, at, bytes: Buffer.alloc(1) });
    const left = () => readdirSync(releasePaths(directory).directory);
    const id = await begin();
    clock.advance(4 * 60_000);
    await send(id, 0);
    clock.advance(4 * 60_000);
    await send(id, 1);
    assert.equal(left().length, 1);
    clock.advance(6 * 60_000);
    await assert.rejects(send(id, 2), { reason: 'NotFound' });
    assert.deepEqual(left(), []);
    await begin();
    await uploads.stop();
    assert.deepEqual(left(), []);
  });

  describe('next to a command with --data, which can have the same process id in another container', () => {
    const began = async (version: string) => {
      const directory = join(folder, `beside-${version}`);
      const uploads = new ReleaseUploads(releasePaths(directory), { clock: systemClock, log: silentLogger });
      const { sizes, ...list } = listOf(release(version));
      const { upload: id, files } = await uploads.begin('ann', list, new Map(Object.entries(sizes)));
      const upload = { id, user: 'ann' };
      for (const file of files) {
        const bytes = readFileSync(join(folder, `release-${version}`, file));
        await uploads.receive(upload, { file, at: 0, bytes });
      }
      return { uploads, upload, directory, paths: releasePaths(directory) };
    };

    test('an upload keeps its files', async () => {
      const { uploads, upload, directory, paths } = await began('2.0.0');
      await addRelease(release('2.0.1'), directory);
      await uploads.start();
      assert.equal((await uploads.finish(upload)).version, '2.0.0');
      await uploads.stop();
      assert.deepEqual(readdirSync(paths.directory).sort(), ['2.0.0', '2.0.1']);
      const file = await new VerifiedReleases(paths).open('2.0.0', agentArchive('2.0.0'));
      await file.file.close();
    });

    test('a release whose copied files have disappeared is not published, and its key is not trusted', async () => {
      const { uploads, upload, paths } = await began('2.1.0');
      const [staging = ''] = readdirSync(paths.directory);
      rmSync(join(paths.directory, staging, agentArchive('2.1.0')));
      await assert.rejects(uploads.finish(upload), {
        reason: 'ServiceUnavailable',
        message:
          /everynode-agent-2\.1\.0\S+ in the coordinator's data directory was removed.*add the release again/,
      });
      assert.deepEqual([readdirSync(paths.directory), existsSync(paths.trustFile)], [[], false]);
    });

    test('a key that the command trusts during an upload decides', async () => {
      const { uploads, upload, paths } = await began('2.2.0');
      const other = newReleaseKey().publicKey.trim();
      await updateTrust(paths.trustFile, () => ({ key: other }));
      await assert.rejects(uploads.finish(upload), { reason: 'BadRequest' });
      assert.deepEqual(await uploads.trust(), { key: other });
    });
  });

  test('files of more than 1 GiB together are refused before the first is sent', async () => {
    const sums = ['a', 'b', 'c'].map((name) => [name, ''] as const);
    const sizes = new Map(sums.map(([name]) => [name, 500 * 2 ** 20]));
    await assert.rejects(requireSpace(folder, sums, sizes), { message: /have more than 1024 MiB/ });
  });

  test('the answer warns of several coordinators, and of a floor above the own version', async () => {
    const releases = new ReleaseUploads(releasePaths(join(folder, 'leader')), {
      clock: new ManualClock(),
      log: silentLogger,
    });
    const warningsOf = async (cluster: object, floor = '0.0.1') => {
      const body = Buffer.from(JSON.stringify({ floor }));
      const warnings: string[] = [];
      const info = readRequest('POST', RELEASE_TRUST_PATH);
      const request = {
        info,
        headers: {},
        body,
        warn: (text: string) => warnings.push(text),
        onChange: () => undefined,
      };
      const deps = { releases, ...cluster } as unknown as ApiDeps;
      await handleReleaseTrust(deps, request as unknown as ApiRequest);
      return warnings;
    };
    assert.deepEqual(await warningsOf({}), []);
    assert.match((await warningsOf({ cluster: {} })).join(), /only the coordinator that leads has changed/);
    assert.deepEqual(await warningsOf({}, VERSION), []);
    const refused = `install.sh installs version ${VERSION} on new hosts, so it is refused now`;
    assert.deepEqual(await warningsOf({}, '999.0.0'), [refused]);
  });

  test('a coordinator that ends while a release is sent leaves a sentence that nothing was changed', async () => {
    const source = release('1.9.0');
    const client = {
      request: async (_method: string, path: string) => {
        const names = { upload: 'x', files: [agentArchive('1.9.0')], pieceBytes: 1_000 };
        if (!path.includes('?')) return names;
        throw new ExitError(EXIT_CODES.environment, 'https://c:6443 does not respond: socket hang up.');
      },
    };
    const sending = { signal: new AbortController().signal, onProgress: () => undefined };
    await assert.rejects(sendRelease(client as unknown as ApiClient, source, sending), {
      sentence:
        'https://c:6443 does not respond: socket hang up. Nothing was changed: add the release again.',
    });
  });

  function listOf(source: string) {
    const text = (name: string) => readFileSync(join(source, name), 'utf8');
    const names = readdirSync(source).filter((name) => name.startsWith('everynode-'));
    const sizes = Object.fromEntries(names.map((name) => [name, readFileSync(join(source, name)).length]));
    return { sums: text('SHA256SUMS'), signature: text('SHA256SUMS.sig'), key: text('release.pub'), sizes };
  }
});

function mapped(sizes: Record<string, number>, size: number): Record<string, number> {
  return Object.fromEntries(Object.keys(sizes).map((name) => [name, size]));
}
