import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import {
  EventCorrelator,
  type Occurrence,
} from '../../../coordinator/controllers/events/event-correlator.js';

const occurrence = (message: string, name = 'web'): Occurrence => ({
  component: 'daemonset-controller',
  about: { kind: 'DaemonSet', apiVersion: 'apps/v1', namespace: 'default', name },
  type: 'Normal',
  reason: 'SuccessfulCreate',
  message,
});
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('event correlator', () => {
  let correlator: EventCorrelator;
  beforeEach(() => {
    correlator = new EventCorrelator();
  });

  test('an equal event raises the count of the first', () => {
    const first = correlator.correlate(occurrence('a'), 1_000);
    const second = correlator.correlate(occurrence('a'), 5_000);
    assert.equal(second?.key, first?.key);
    assert.deepEqual(
      [second?.count, second?.createdAt, second?.firstAt, second?.lastAt],
      [2, 1_000, 1_000, 5_000],
    );
  });

  test('another message, reason or object is another event', () => {
    const events = [
      occurrence('a'),
      occurrence('b'),
      occurrence('a', 'db'),
      { ...occurrence('a'), reason: 'Other' },
    ];
    const names = events.map((event) => correlator.correlate(event, 0)?.key);
    assert.equal(new Set(names).size, 4);
  });

  test('from the tenth similar message on they are combined into one', () => {
    for (let index = 1; index < 10; index++) {
      assert.equal(correlator.correlate(occurrence(`m${index}`), index)?.message, `m${index}`);
    }
    const tenth = correlator.correlate(occurrence('m10'), 10);
    const eleventh = correlator.correlate(occurrence('m11'), 11);
    assert.equal(tenth?.message, '(combined from similar events): m10');
    assert.deepEqual([eleventh?.key, eleventh?.count], [tenth?.key, 2]);
  });

  test('ten minutes without events end the combining', () => {
    for (let index = 1; index <= 10; index++) correlator.correlate(occurrence(`m${index}`), 0);
    assert.equal(correlator.correlate(occurrence('later'), 10 * MINUTE + 1)?.message, 'later');
  });

  test('one object gets 25 events at once and one per five minutes afterwards', () => {
    const told = () => correlator.correlate(occurrence('a'), now) !== undefined;
    let now = 0;
    assert.equal(Array.from({ length: 40 }, told).filter(Boolean).length, 25);
    now = 5 * MINUTE;
    assert.deepEqual([told(), told()], [true, false]);
  });

  test('only the recent reasons of an object are remembered', () => {
    const told = (reason: string) => correlator.correlate({ ...occurrence('a'), reason }, 0)?.key;
    const first = told('Reason0');
    const names = Array.from({ length: 20 }, () => told('Reason0'));
    assert.deepEqual(new Set(names), new Set([first]));
    for (let index = 1; index <= 100; index++) told(`Reason${index}`);
    const later = correlator.correlate({ ...occurrence('a'), reason: 'Reason0' }, HOUR);
    assert.deepEqual([later?.key === first, later?.count], [false, 1]);
  });

  test('the memory for one object is bounded by its burst, however many events it gets', () => {
    const told = (reason: string, message: string, now: number) =>
      correlator.correlate({ ...occurrence(message), reason }, now)?.count;
    for (let reason = 0; reason < 7; reason++) {
      for (let message = 0; message < 9; message++) told(`Reason${reason}`, `m${message}`, 0);
    }
    const counts = Array.from({ length: 7 }, (_, reason) =>
      told(`Reason${reason}`, 'm0', (reason + 1) * HOUR),
    );
    assert.deepEqual(counts, [1, 1, 1, 1, 2, 2, 2]);
  });

  test('an event about a cluster-scoped object is in the namespace default', () => {
    const about = { kind: 'Node', apiVersion: 'v1', name: 'n1' };
    assert.match(correlator.correlate({ ...occurrence('a'), about }, 0)?.key ?? '', /\/default\/n1\./);
  });
});
