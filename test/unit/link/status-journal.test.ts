/** Events that a host could not report while offline, and their times. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type HostMoment, reportedTimes } from '../../../agent/decisions/event-journal-times.js';
import { EventJournal } from '../../../agent/link/event-journal.js';
import { eventJournalFile } from '../../../agent/link/event-journal-file.js';
import { Outbox } from '../../../agent/link/outbox.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { decodeFromAgent, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import type {
  Applied,
  EventsReport,
  ReportedEvent,
  StatusReport,
} from '../../../shared/link/messages/link-messages.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;

describe('the estimated time of a journal entry', () => {
  const now = { boot: 'now', uptimeMs: HOUR, wallMs: 5, hubMs: NOON };
  const at = (boot: string, uptimeMs: number, wallMs: number, hubMs?: number): HostMoment => ({
    boot,
    uptimeMs,
    wallMs,
    ...(hubMs === undefined ? {} : { hubMs }),
  });
  const cases: [rule: string, moments: HostMoment[], expected: string][] = [
    ['an entry of this boot is exact, whatever the wall clock showed', [at('now', HOUR - 60_000, 0)], '-60'],
    ["an entry of an earlier boot uses the coordinator's time", [at('old', 9, 0, NOON - 2 * HOUR)], '-7200'],
    ['otherwise the wall clock is used if it is plausible', [at('old', 0, NOON - 3 * HOUR)], '~-10800'],
    ['a wall clock in the future, or within this boot, is wrong', [at('old', 0, NOON - 60_000)], '~-3600'],
    [
      'a wall clock in 1970 gives the latest possible time, with the distances kept',
      [at('old', 10_000, 10_000), at('old', 70_000, 70_000)],
      '~-3660,~-3600',
    ],
    [
      'an entry is never before the previous one',
      [at('older', 1, 0, NOON - 2 * HOUR), at('old', 10_000, 0), at('old', 2 * HOUR, 0)],
      '-7200,~-7200,~-3600',
    ],
    ['an entry is never in the future', [at('old', 9, 0, NOON + 9 * HOUR)], '0'],
  ];
  for (const [rule, moments, expected] of cases) {
    test(rule, () => {
      const told = reportedTimes(moments, now).map(
        ({ ms, isEstimate }) => `${isEstimate ? '~' : ''}${(ms - NOON) / 1000}`,
      );
      assert.equal(told.join(), expected);
    });
  }
});

function eventOf(reason: string, name = 'p'): ReportedEvent {
  const time = toTimestamp(0);
  const involvedObject = { kind: 'Pod', name, uid: `uid-${name}` };
  return {
    involvedObject,
    type: 'Normal',
    reason,
    message: reason,
    count: 1,
    firstTimestamp: time,
    lastTimestamp: time,
  };
}

/** A host with boots and clocks under the test's control. */
class Host {
  boot = 'first';
  hubMs: number | undefined;
  readonly clock = new ManualClock(1_000_000);
  #bootedAt = 1_000_000;

  constructor(readonly path: string) {}

  reboot(): void {
    this.boot = 'second';
    this.#bootedAt = this.clock.monotonic();
    this.hubMs = undefined;
  }

  open(file = eventJournalFile(this.path)): Promise<EventJournal> {
    const moment = (): HostMoment => ({
      boot: this.boot,
      uptimeMs: this.clock.monotonic() - this.#bootedAt,
      wallMs: 7,
      ...(this.hubMs === undefined ? {} : { hubMs: this.hubMs + this.clock.monotonic() - 1_000_000 }),
    });
    return EventJournal.open({ file, now: moment, clock: this.clock, log: silentLogger });
  }
}

const told = (journal: EventJournal) =>
  journal.pendingEvents().map(({ reason, message, count, firstTimestamp, lastTimestamp }) => ({
    reason,
    count,
    from: Date.parse(firstTimestamp),
    to: Date.parse(lastTimestamp),
    isEstimate: message.includes('time estimated'),
  }));

describe('the journal', () => {
  test('counts repeated entries and survives the agent with true times', async () => {
    const host = new Host(join(temporaryDirectory(), 'journal'));
    const journal = await host.open();
    journal.add(eventOf('Started'));
    host.clock.advance(60_000);
    journal.add(eventOf('BackOff'));
    host.clock.advance(60_000);
    journal.add(eventOf('BackOff'));
    await journal.flush();
    const next = await host.open();
    host.clock.advance(60_000);
    assert.deepEqual(
      told(next),
      [
        { reason: 'Started', count: 1, from: 1_000_000, to: 1_000_000, isEstimate: false },
        { reason: 'BackOff', count: 1, from: 1_060_000, to: 1_060_000, isEstimate: false },
      ],
      'an entry that repeats within ten minutes is not written again',
    );
    assert.deepEqual(
      told(journal).map(({ count, to }) => [count, to]),
      [
        [1, 1_000_000],
        [2, 1_120_000],
      ],
    );
  });

  test("an entry of an earlier boot is exact by the coordinator's time, otherwise marked as an estimate", async () => {
    const host = new Host(join(temporaryDirectory(), 'journal'));
    host.hubMs = NOON;
    const journal = await host.open();
    journal.add(eventOf('Known'));
    host.hubMs = undefined;
    host.clock.advance(10_000);
    journal.add(eventOf('Unknown'));
    await journal.flush();
    host.clock.advance(10_000);
    host.reboot();
    const next = await host.open();
    host.clock.advance(5_000);
    host.hubMs = NOON;
    const steady = (hubMs: number) => hubMs - (NOON + 25_000) + host.clock.now();
    assert.deepEqual(
      told(next).map(({ reason, to, isEstimate }) => [reason, to, isEstimate]),
      [
        ['Known', steady(NOON), false],
        ['Unknown', steady(NOON + 20_000), true],
      ],
    );
  });

  test('reported entries are removed from the disk too; an empty journal writes nothing', async () => {
    const host = new Host(join(temporaryDirectory(), 'journal'));
    const journal = await host.open();
    await journal.flush();
    journal.add(eventOf('Started'));
    journal.clearAcknowledged();
    host.clock.advance(60_000);
    await journal.flush();
    assert.equal(existsSync(host.path), false, 'told in time, it was never written');
    journal.add(eventOf('Started'));
    await journal.flush();
    assert.equal((await host.open()).size, 1);
    journal.clearAcknowledged();
    await journal.flush();
    assert.equal(readFileSync(host.path, 'utf8'), '');
  });

  test('a line that a power cut truncated, and garbage, cost only themselves', async () => {
    const host = new Host(join(temporaryDirectory(), 'journal'));
    const journal = await host.open();
    journal.add(eventOf('Started'));
    await journal.flush();
    appendFileSync(host.path, '{"event":{"reason":"Torn"\nnull\n[]\n{"event":{}}\n');
    assert.deepEqual(
      told(await host.open()).map(({ reason }) => reason),
      ['Started'],
    );
    writeFileSync(host.path, Buffer.from([0, 255, 1]));
    assert.equal((await host.open()).size, 0);
  });

  test('a line that the hub would reject costs only itself, whatever is wrong in it', async () => {
    const host = new Host(join(temporaryDirectory(), 'journal'));
    const journal = await host.open();
    journal.add(eventOf('First'));
    await journal.flush();
    const line = JSON.parse(readFileSync(host.path, 'utf8')) as Record<string, Record<string, unknown>>;
    const withEvent = (part: object) => ({ ...line, event: { ...line.event, ...part } });
    const wrong = [
      withEvent({ involvedObject: null }),
      withEvent({ involvedObject: { kind: 7 } }),
      withEvent({ type: 'Odd' }),
      { ...line, count: 0 },
      { ...line, event: null },
      { ...line, first: { ...line.first, uptimeMs: 1e300 } },
      { ...line, last: { ...line.last, hubMs: 'noon' } },
    ];
    for (const each of [...wrong, withEvent({ reason: 'Last' })])
      appendFileSync(host.path, `${JSON.stringify(each)}\n`);
    const next = await host.open();
    assert.deepEqual(
      told(next).map(({ reason }) => reason),
      ['First', 'Last'],
    );
  });

  test('with long messages the file stays bounded, keeps the newest, and rewritten entries count for the day', async () => {
    const host = new Host(join(temporaryDirectory(), 'journal'));
    let bytes = 0;
    const file = eventJournalFile(host.path);
    const counting: typeof file = {
      ...file,
      append: (text) => {
        bytes += text.length;
        return file.append(text);
      },
      replace: (text) => {
        bytes += text.length;
        return file.replace(text);
      },
    };
    const journal = await host.open(counting);
    for (let number = 0; number < 600; number += 1) {
      const event = eventOf('Unhealthy', `pod-${number}`);
      journal.add({ ...event, message: 'x'.repeat(1_000) });
      if (number % 10 === 0) await journal.flush();
    }
    await journal.flush();
    assert.ok(readFileSync(host.path).length <= 128 * 1024);
    assert.ok(bytes <= 512 * 1024, `${bytes} bytes were written on one day`);
    assert.ok((await host.open()).size > 50);
  });

  test('is bounded: two hundred Events, 128 KiB of file, half a MiB per day', async () => {
    const host = new Host(join(temporaryDirectory(), 'journal'));
    const journal = await host.open();
    for (let number = 0; number < 3_000; number += 1) {
      journal.add(eventOf('Pulled', `pod-${number}`));
      if (number % 50 === 0) await journal.flush();
    }
    await journal.flush();
    assert.equal(journal.size, 200);
    assert.ok(readFileSync(host.path).length <= 128 * 1024);
  });
});

test('the outbox sends missed entries after its first report, and again until the coordinator acknowledges them', async () => {
  const clock = new ManualClock(1_000_000);
  const moment = (): HostMoment => ({
    boot: 'b',
    uptimeMs: clock.monotonic(),
    wallMs: 0,
    hubMs: clock.now(),
  });
  const journal = await EventJournal.open({ now: moment, clock, log: silentLogger });
  const outbox = new Outbox({ clock, journal });
  const sent: (StatusReport | EventsReport | Applied)[] = [];
  const send = (message: StatusReport | EventsReport | Applied) => void sent.push(message);
  const reasons = () =>
    sent.flatMap((message) =>
      message.kind === 'events' ? message.items.map(({ reason }) => reason) : [message.kind],
    );
  outbox.putNode({});
  outbox.putEvent(eventOf('Away'));
  outbox.startSession({ send });
  assert.deepEqual(reasons(), ['status']);
  outbox.acknowledge(1);
  assert.deepEqual(reasons(), ['status', 'Away', 'status']);
  outbox.endSession();
  outbox.startSession({ send });
  outbox.acknowledge(3);
  assert.deepEqual(reasons().slice(3), ['status', 'Away', 'status'], 'the link broke before it was heard');
  outbox.acknowledge(4);
  outbox.putEvent(eventOf('Here'));
  outbox.endSession();
  outbox.startSession({ send });
  outbox.acknowledge(5);
  assert.deepEqual(reasons().slice(6), ['status', 'Here', 'status'], 'what still waited when the link broke');
  outbox.acknowledge(6);
  outbox.endSession();
  outbox.startSession({ send });
  outbox.acknowledge(7);
  assert.deepEqual(reasons().slice(9), ['status']);
});

test('long probe output of an offline time is truncated, accepted by the hub, and removed', async () => {
  const clock = new ManualClock(1_000_000);
  let boot = 'before';
  const moment = (): HostMoment => ({
    ...{ boot, uptimeMs: clock.monotonic(), wallMs: 0 },
    ...(boot === 'after' && { hubMs: clock.now() }),
  });
  const journal = await EventJournal.open({ now: moment, clock, log: silentLogger });
  const outbox = new Outbox({ clock, journal });
  const sent: (StatusReport | EventsReport | Applied)[] = [];
  outbox.putNode({});
  const shout = '\u{1F525}'.repeat(5_120);
  outbox.putEvent({ ...eventOf('R'.repeat(500)), message: shout });
  outbox.putEvent({ ...eventOf('Short'), message: 'y'.repeat(1_000) });
  boot = 'after';
  outbox.startSession({ send: (message) => void sent.push(message) });
  outbox.acknowledge(1);
  const report = sent.find(({ kind }) => kind === 'events') as EventsReport;
  assert.deepEqual(decodeFromAgent(encodeMessage(report)), report, 'the hub has nothing to cut');
  assert.equal(report.items.length, 2);
  for (const { message } of report.items) {
    assert.ok(message.length <= 1_024, `${message.length} characters`);
    assert.match(message, / \.\.\. \(time estimated: [a-z ']+\)$/);
  }
  outbox.acknowledge(2);
  assert.equal(journal.size, 0);
});
