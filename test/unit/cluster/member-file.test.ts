/** `member.json`: what is accepted, and the errors for anything else. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  isMemberServer,
  type MemberFile,
  MemberFileError,
  parseMemberFile,
  readMemberFile,
  removeMemberFile,
  writeMemberFile,
} from '../../../coordinator/cluster/member-file.js';
import { MEMBER_FILE } from '../../../coordinator/store/data-files.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const MEMBER: MemberFile = {
  memberId: '0a1b2c3d',
  clusterUID: 'fleet',
  generation: 'g1',
  server: 'https://10.0.0.1:6443',
  name: 'shop-1',
};

test('a member file is read as it was written, readable only by its owner', async () => {
  const dataDir = temporaryDirectory();
  assert.equal(await readMemberFile(dataDir), undefined);
  await writeMemberFile(dataDir, MEMBER);
  assert.deepEqual(await readMemberFile(dataDir), MEMBER);
  assert.equal((await stat(join(dataDir, MEMBER_FILE))).mode & 0o777, 0o600);
  await removeMemberFile(dataDir);
  assert.equal(await readMemberFile(dataDir), undefined);
});

const GOOD = { format: 1, ...MEMBER };
const BAD: [string, string, MemberFileError['code'], RegExp][] = [
  ['no JSON', '{', 'damaged', /damaged \(format\)/],
  ['a list', '[]', 'damaged', /damaged \(format\)/],
  ['a newer format', JSON.stringify({ ...GOOD, format: 2 }), 'newer', /newer version/],
  ['an id that is not hex', JSON.stringify({ ...GOOD, memberId: '../x' }), 'damaged', /memberId/],
  ['no fleet', JSON.stringify({ ...GOOD, clusterUID: '' }), 'damaged', /clusterUID/],
  ['no log', JSON.stringify({ ...GOOD, generation: 7 }), 'damaged', /generation/],
  ['a server without https', JSON.stringify({ ...GOOD, server: 'http://a:1' }), 'damaged', /server/],
  ['no name', JSON.stringify({ ...GOOD, name: undefined }), 'damaged', /name/],
];

for (const [what, text, code, message] of BAD) {
  test(`a member file with ${what} is ${code}`, () => {
    assert.throws(
      () => parseMemberFile(text, '/data/member.json'),
      (error) => error instanceof MemberFileError && error.code === code && message.test(error.message),
    );
  });
}

const SERVERS: [unknown, boolean][] = [
  ['https://a:6443', true],
  ['https://a', true],
  ['https://a:443', true],
  ['https://[fd00::1]:6443', true],
  ['https://a:6443/', false],
  ['https://a:6443/path', false],
  ['https://user@a:6443', false],
  ['https://a:6443?x', false],
  ['wss://a:6443', false],
  [7, false],
];

for (const [server, isGood] of SERVERS) {
  test(`${String(server)} ${isGood ? 'is' : 'is not'} an address of a member`, () => {
    assert.equal(isMemberServer(server), isGood);
  });
}
