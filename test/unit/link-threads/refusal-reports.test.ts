/** A flood of refused connections costs the main thread one message a second, and a bounded log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusedPeers } from '../../../coordinator/api/limits/refused-peers.js';
import { type RefusalReport, RefusalReports } from '../../../coordinator/link-threads/refusal-reports.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const refusalFrom = (remoteAddress: string) => ({ remoteAddress, code: 503, reason: 'busy' });

function newReports() {
  const clock = new ManualClock();
  const posted: RefusalReport[] = [];
  return { clock, posted, reports: new RefusalReports(clock, (report) => posted.push(report)) };
}

test('refusals of one network are one message a second, with their number', () => {
  const { clock, posted, reports } = newReports();
  for (let index = 0; index < 1_000; index += 1) reports.add(refusalFrom(`2001:db8::${index % 10}`));
  assert.deepEqual(posted, []);
  clock.advance(1_000);
  const refusals = [{ refusal: refusalFrom('2001:db8::0'), times: 1_000 }];
  assert.deepEqual(posted, [{ refusals, others: 0, acceptFailures: undefined }]);
  clock.advance(10_000);
  assert.equal(posted.length, 1, 'nothing was refused');
  reports.add(refusalFrom('10.0.0.1'));
  clock.advance(1_000);
  assert.equal(posted.length, 2);
});

test('a report is bounded, and counts what it lacks', () => {
  const { clock, posted, reports } = newReports();
  for (let index = 0; index < 1_000; index += 1)
    reports.add(refusalFrom(`10.0.${index >> 8}.${index & 255}`));
  reports.add(refusalFrom('10.0.0.0'));
  clock.advance(1_000);
  assert.deepEqual([posted[0]?.refusals.length, posted[0]?.others], [256, 744]);
  assert.equal(posted[0]?.refusals[0]?.times, 2);
  reports.add(refusalFrom('10.0.0.1'));
  clock.advance(1_000);
  assert.deepEqual([posted[1]?.refusals.length, posted[1]?.others], [1, 0]);
});

test('failures to accept are counted in the report, also without a refusal', () => {
  const { clock, posted, reports } = newReports();
  for (const reason of ['accept EMFILE', 'accept ENFILE']) reports.acceptFailed(reason);
  clock.advance(1_000);
  const acceptFailures = { count: 2, lastReason: 'accept ENFILE' };
  assert.deepEqual(posted, [{ refusals: [], others: 0, acceptFailures }]);
});

test('the log counts all refusals of a report', () => {
  const clock = new ManualClock();
  const lines: unknown[] = [];
  const log = { ...silentLogger, warn: (fields: object | string) => lines.push(fields) };
  const peers = new RefusedPeers({ clock, log });
  const refusal = { path: '', ...refusalFrom('10.0.0.1') };
  peers.report(refusal, 5);
  peers.report(refusal, 3);
  clock.advance(60_000);
  peers.report(refusal, 2);
  assert.deepEqual(lines, [refusal, { ...refusal, repeated: 7 }]);
});
