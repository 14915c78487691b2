/** Laws of drivers: logs. */
import assert from 'node:assert/strict';
import type { LawFixture } from './driver-fixture.js';
import { collect, never, until } from './driver-law-steps.js';

export function logLaws(fixture: LawFixture): void {
  fixture.law('logs are in order, complete or from the end', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.prints);
    await until(fixture.ours, podUid, (container) => container.state === 'exited');
    const read = (tailLines?: number) =>
      collect(
        fixture.ours.logs(
          id,
          { follow: false, timestamps: false, ...(tailLines !== undefined && { tailLines }) },
          never(),
        ),
      );
    assert.equal(await read(), 'one\ntwo\nthree\n');
    assert.equal(await read(1), 'three\n');
    assert.equal(await read(0), '');
  });

  fixture.law('log lines can include their time', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.prints);
    await until(fixture.ours, podUid, (container) => container.state === 'exited');
    const text = await collect(fixture.ours.logs(id, { follow: false, timestamps: true }, never()));
    const [time = '', word] = (text.split('\n')[0] ?? '').split(' ');
    assert.equal(word, 'one');
    assert.ok(Number.isFinite(Date.parse(time)), time);
  });

  fixture.law('following a log ends with its container', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.prints);
    const text = await collect(fixture.ours.logs(id, { follow: true, timestamps: false }, never()));
    assert.equal(text, 'one\ntwo\nthree\n');
  });

  fixture.law('following a log ends on request', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    const controller = new AbortController();
    const reading = collect(fixture.ours.logs(id, { follow: true, timestamps: false }, controller.signal));
    controller.abort();
    assert.match(await reading, /^(ready\n)?$/);
  });
}
