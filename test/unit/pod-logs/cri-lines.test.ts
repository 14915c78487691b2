/** Conversion of the engines' log formats to the CRI's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EngineLogFormat, toCriLines } from '../../../agent/decisions/pod-logs/cri-lines.js';

const entry = (log: string, stream = 'stdout'): string =>
  JSON.stringify({ log, stream, time: '2016-10-06T00:17:09.669794202Z' });
const PART = 'x'.repeat(16 * 1024);
const UMLAUTS = 'ä'.repeat(8 * 1024);
const UTC = '2016-10-06T00:17:09.669794202';

const CASES: [rule: string, format: EngineLogFormat, line: string, expected: string | undefined][] = [
  ['a line of Docker', 'json-file', entry('text\n'), `${UTC}Z stdout F text\n`],
  ['an empty line of Docker', 'json-file', entry('\n', 'stderr'), `${UTC}Z stderr F \n`],
  ['a full part of a long line of Docker', 'json-file', entry(PART), `${UTC}Z stdout P ${PART}\n`],
  ['a part counted in bytes', 'json-file', entry(UMLAUTS), `${UTC}Z stdout P ${UMLAUTS}\n`],
  ['the last text of a container without a newline', 'json-file', entry('end'), `${UTC}Z stdout F end\n`],
  ['a terminal line of Docker', 'json-file', entry('text\r\n'), `${UTC}Z stdout F text\r\n`],
  ['two lines in one entry, which would forge a line', 'json-file', entry('one\ntwo\n'), undefined],
  ['another stream', 'json-file', entry('text\n', 'stdin'), undefined],
  ['a torn entry', 'json-file', entry('text\n').slice(0, -5), undefined],
  ['JSON of another type', 'json-file', 'null', undefined],
  ['a line of Podman', 'k8s-file', `${UTC}+00:00 stdout F text`, `${UTC}Z stdout F text\n`],
  ['a part of Podman', 'k8s-file', `${UTC}+00:00 stderr P text`, `${UTC}Z stderr P text\n`],
  ['an empty line of Podman', 'k8s-file', `${UTC}+00:00 stdout F `, `${UTC}Z stdout F \n`],
  [
    'a local time before midnight',
    'k8s-file',
    '2016-10-05T19:47:09.669794202-04:30 stdout F text',
    `${UTC}Z stdout F text\n`,
  ],
  ['a torn line of Podman', 'k8s-file', `${UTC}+00:00 std`, undefined],
  ['another tag', 'k8s-file', `${UTC}+00:00 stdout X text`, undefined],
  ['a time that is none', 'k8s-file', '2016-13-06T00:17:09.669794202+00:00 stdout F text', undefined],
  ['a line of zero bytes', 'k8s-file', '\0'.repeat(64), undefined],
];

for (const [rule, format, line, expected] of CASES) {
  test(`${format}: ${rule} ${expected === undefined ? 'is left out' : 'is converted'}`, () => {
    const isKept = expected !== undefined;
    assert.deepEqual(toCriLines(`${line}\n`, format), {
      text: expected ?? '',
      lines: isKept ? 1 : 0,
      malformed: isKept ? 0 : 1,
    });
  });
}

test('the conversion of two texts is the conversion of both together', () => {
  const one = `${entry('one\n')}\n`;
  const two = `${entry('two\n')}\nnone\n${entry('three\n')}\n`;
  const apart = [one, two].map((text) => toCriLines(text, 'json-file').text).join('');
  assert.equal(apart, toCriLines(one + two, 'json-file').text);
  assert.equal(toCriLines('', 'json-file').text, '');
});
