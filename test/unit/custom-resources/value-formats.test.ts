/** The formats of string values, after kube-openapi pkg/validation/strfmt. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasFormat } from '../../../coordinator/kinds/custom-resources/schemas/value-formats.js';
import { startCpuTimer } from '../../harness/basics/cpu-time.js';

const BYTES: [text: string, isValid: boolean][] = [
  ['', true],
  ['aGVsbG8=', true],
  ['aGVs\r\nbG8=\n', true],
  ['aGVsbG8\n=', true],
  ['aGVsbG8', false],
  ['aGV=bG8=', false],
  ['a===', false],
  ['aGVs!G8=', false],
];

describe('byte', () => {
  for (const [text, isValid] of BYTES) {
    test(`${JSON.stringify(text)} is ${isValid ? 'valid' : 'invalid'}`, () =>
      assert.equal(hasFormat(text, 'byte'), isValid));
  }
});

/** Texts that almost match. A pattern that tries each way to divide them takes 10 seconds and more for this length. */
const LENGTH = 150_000;
const HOSTILE = ['\n', '\r\n', 'a', '1', '1s', 'a.', '-', '.', ' ', '=', 'A==\n', '1ms', '::', '/', '@'];
const FORMATS =
  'byte cidr date date-time duration email hexcolor hostname ipv4 ipv6 k8s-long-name k8s-short-name mac ssn uri uuid';

describe('a long text that almost matches is refused at once', () => {
  for (const format of FORMATS.split(' ')) {
    test(format, () => {
      const cpuMs = startCpuTimer();
      for (const part of HOSTILE) {
        hasFormat(`${part.repeat(LENGTH / part.length)}!`, format);
        hasFormat(`1${part.repeat(LENGTH / part.length)}!`, format);
      }
      const ms = cpuMs();
      assert.ok(ms < 3000, `${ms} ms`);
    });
  }
});
