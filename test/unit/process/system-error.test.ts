/** Errors of the operating system as sentences for a user. */
import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemErrorSentence } from '../../../shared/process/system-error.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const DIRECTORY = temporaryDirectory();
const FILE = join(DIRECTORY, 'file');
writeFileSync(FILE, '');

const failedConnect = () =>
  new Promise((_, reject) => connect({ host: '127.0.0.1', port: 1 }).on('error', reject));
const failedListen = () =>
  new Promise((_, reject) => createServer().on('error', reject).listen(join(FILE, 'socket')));

/** A call that fails, and the sentence for its error. */
const CASES: readonly [() => Promise<unknown>, string][] = [
  [
    () => readFile(join(FILE, 'x')),
    `Cannot open ${FILE}/x: a part of the path is not a directory (ENOTDIR).`,
  ],
  [() => readFile(DIRECTORY), 'Cannot read: it is a directory (EISDIR).'],
  [() => open(join(DIRECTORY, 'none')), `Cannot open ${DIRECTORY}/none: no such file or directory (ENOENT).`],
  [() => readdir(FILE), `Cannot read ${FILE}: a part of the path is not a directory (ENOTDIR).`],
  [() => mkdir(FILE), `Cannot mkdir ${FILE}: it already exists (EEXIST).`],
  [failedConnect, 'Cannot connect to 127.0.0.1:1: connection refused (ECONNREFUSED).'],
  [failedListen, `Cannot listen on ${FILE}/socket: a part of the path is not a directory (ENOTDIR).`],
];

for (const [fail, sentence] of CASES) {
  test(`an error of the system is printed as: ${sentence.replace(DIRECTORY, '/tmp')}`, async () => {
    const error: unknown = await fail().catch((thrown: unknown) => thrown);
    assert.equal(systemErrorSentence(error), sentence);
  });
}

test('a host name that cannot be resolved is named', async () => {
  const error: unknown = await lookup('no-such-host.invalid').catch((thrown: unknown) => thrown);
  assert.match(systemErrorSentence(error) ?? '', /^Cannot resolve no-such-host\.invalid: .* resolved/);
});

test('programming errors keep their stack trace', () => {
  assert.equal(systemErrorSentence(new TypeError('x is undefined')), undefined);
  assert.equal(
    systemErrorSentence(Object.assign(new Error('m'), { code: 'EBADF', syscall: 'read' })),
    undefined,
  );
  assert.equal(
    systemErrorSentence(Object.assign(new Error('m'), { code: 'toString', syscall: 'x' })),
    undefined,
  );
  assert.equal(systemErrorSentence(undefined), undefined);
});
