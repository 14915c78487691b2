/** Laws of drivers: ownership, start, exit and events of containers. */
import assert from 'node:assert/strict';
import { config, identity, type LawFixture, THEIRS } from './driver-fixture.js';
import { collect, listen, never, only, printed, rejects, until } from './driver-law-steps.js';

export function containerLaws(fixture: LawFixture): void {
  fixture.law('creating an identity twice is a conflict and creates no copy', async (podUid) => {
    await fixture.ours.create(config(podUid, fixture.fixture.waits));
    await rejects(fixture.ours.create(config(podUid, fixture.fixture.waits)), 'Conflict');
    assert.equal((await fixture.ours.inspectPod(podUid)).length, 1);
  });

  fixture.law('the next attempt is another container', async (podUid) => {
    await fixture.ours.create(config(podUid, fixture.fixture.waits));
    await fixture.ours.create(
      config(podUid, fixture.fixture.waits, { identity: identity(podUid, 'app', 1) }),
    );
    const attempts = (await fixture.ours.inspectPod(podUid)).map((container) => container.identity.attempt);
    assert.deepEqual(attempts.sort(), [0, 1]);
  });

  fixture.law('the fields of a create are returned by inspect', async (podUid) => {
    await fixture.ours.create(
      config(podUid, fixture.fixture.waits, { labels: { 'everynode.dev/spec-hash': 'abc' } }),
    );
    const container = only(await fixture.ours.inspectPod(podUid));
    assert.deepEqual(container.identity, identity(podUid, 'app', 0));
    assert.equal(container.labels['everynode.dev/spec-hash'], 'abc');
    assert.equal(container.image, fixture.fixture.waits.image);
    assert.equal(container.state, 'created');
    assert.match(container.imageID, /sha256:[0-9a-f]{64}$/);
    assert.equal(container.startedAt, undefined);
  });

  fixture.law('created, running, exited: each with its time', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.prints);
    const ended = await until(fixture.ours, podUid, (container) => container.state === 'exited');
    assert.equal(ended.id, id);
    assert.equal(ended.exitCode, 3);
    assert.equal(ended.oomKilled, false);
    assert.ok((ended.startedAt ?? 0) > 0 && (ended.finishedAt ?? 0) >= (ended.startedAt ?? 0));
  });

  fixture.law('starting a running container changes nothing', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    const before = only(await fixture.ours.inspectPod(podUid));
    await fixture.ours.start(id);
    assert.deepEqual(only(await fixture.ours.inspectPod(podUid)), before);
  });

  fixture.law('stopping a stopped container and removing an absent one are no errors', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    await fixture.ours.stop(id, 10);
    await fixture.ours.stop(id, 10);
    await fixture.ours.remove(id);
    await fixture.ours.remove(id);
    await fixture.ours.stop(id, 10);
    assert.deepEqual(await fixture.ours.inspectPod(podUid), []);
  });

  fixture.law('a program that handles SIGTERM exits before the end of the grace period', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    await printed(fixture.ours, id, 'ready');
    const from = Date.now();
    await fixture.ours.stop(id, 30);
    assert.ok(Date.now() - from < 15_000);
    assert.equal(only(await fixture.ours.inspectPod(podUid)).exitCode, 0);
  });

  fixture.law('a program that ignores SIGTERM is killed after the grace period', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.stubborn);
    const from = Date.now();
    await fixture.ours.stop(id, 1);
    assert.ok(Date.now() - from >= 950);
    assert.equal(only(await fixture.ours.inspectPod(podUid)).exitCode, 137);
  });

  fixture.law('removing a running container ends it', async (podUid) => {
    await fixture.ours.remove(await fixture.run(podUid, fixture.fixture.stubborn));
    assert.deepEqual(await fixture.ours.inspectPod(podUid), []);
  });

  fixture.law('starting an absent container is NotFound', async (podUid) => {
    const id = await fixture.ours.create(config(podUid, fixture.fixture.waits));
    await fixture.ours.remove(id);
    await rejects(fixture.ours.start(id), 'NotFound');
  });

  fixture.law('a container that cannot start reports it, and is kept for inspection', async (podUid) => {
    await rejects(
      fixture.run(podUid, fixture.fixture.unstartable),
      'RunContainerError',
      'CreateContainerError',
    );
  });

  fixture.law('the memory limit applies', async (podUid) => {
    await fixture.run(podUid, fixture.fixture.greedy, { memoryLimitBytes: 16 * 2 ** 20 });
    const ended = await until(fixture.ours, podUid, (container) => container.state === 'exited');
    assert.equal(ended.exitCode, 137);
  });

  fixture.law('an exit for lack of memory is reported as such', async (podUid) => {
    // An engine learns of an exit and its cause separately, and may lose the cause. A single loss is not a failure.
    const causes: boolean[] = [];
    while (fixture.fixture.reportsOutOfMemory && causes.length < 5 && !causes.includes(true)) {
      const uid = `${podUid}-${causes.length}`;
      await fixture.run(uid, fixture.fixture.greedy, { memoryLimitBytes: 16 * 2 ** 20 });
      causes.push((await until(fixture.ours, uid, (container) => container.state === 'exited')).oomKilled);
    }
    assert.equal(causes.includes(true), fixture.fixture.reportsOutOfMemory);
  });

  fixture.law("another owner's containers are not listed, stopped, removed or read", async (podUid) => {
    const theirs = fixture.fixture.driver(THEIRS);
    const id = await theirs.create(config(podUid, fixture.fixture.waits));
    await theirs.start(id);
    assert.ok(!(await fixture.ours.list()).some((container) => container.id === id));
    await fixture.ours.stop(id, 0);
    await fixture.ours.remove(id);
    await rejects(fixture.ours.start(id), 'NotFound');
    await rejects(collect(fixture.ours.logs(id, { follow: false, timestamps: false }, never())), 'NotFound');
    assert.equal(only(await theirs.inspectPod(podUid)).state, 'running');
    await theirs.remove(id);
    theirs.close();
  });

  fixture.law(
    'events start with a resync and name the Pods whose containers start and exit',
    async (podUid) => {
      const events = listen(fixture.ours);
      await events.next((event) => event.kind === 'resync');
      const id = await fixture.run(podUid, fixture.fixture.waits);
      await events.next((event) => event.kind === 'container' && event.podUid === podUid);
      await events.quiet();
      await fixture.ours.stop(id, 5);
      await events.next((event) => event.kind === 'container' && event.podUid === podUid);
      await events.end();
    },
  );

  fixture.law("another owner's containers cause no events", async (podUid) => {
    const theirs = fixture.fixture.driver(THEIRS);
    const events = listen(fixture.ours);
    await events.next((event) => event.kind === 'resync');
    await theirs.remove(await theirs.create(config(`${podUid}-theirs`, fixture.fixture.waits)));
    await fixture.ours.remove(await fixture.ours.create(config(podUid, fixture.fixture.waits)));
    const first = await events.next((event) => event.kind === 'container');
    assert.deepEqual(first, { kind: 'container', podUid });
    await events.end();
    theirs.close();
  });

  fixture.law('a missing image has no id, cannot be pulled, and cannot be run', async (podUid) => {
    assert.equal(await fixture.ours.findImage(fixture.fixture.missingImage), undefined);
    await rejects(
      fixture.ours.pull({ image: fixture.fixture.missingImage, signal: never() }),
      'ErrImagePull',
    );
    await rejects(
      fixture.ours.create(config(podUid, { image: fixture.fixture.missingImage })),
      'CreateContainerError',
    );
  });

  fixture.law('an engine that was down returns with its containers, and a resync', async (podUid) => {
    if (!fixture.fixture.restart) return;
    const events = listen(fixture.ours);
    await events.next((event) => event.kind === 'resync');
    const id = await fixture.ours.create(config(podUid, fixture.fixture.waits));
    await events.quiet();
    await fixture.fixture.restart();
    await events.next((event) => event.kind === 'down');
    await events.next((event) => event.kind === 'resync');
    assert.equal(only(await fixture.ours.inspectPod(podUid)).id, id);
    await events.end();
  });

  fixture.law('the engine reports its name', async () => {
    const info = await fixture.ours.info();
    assert.equal(info.name, fixture.engine);
    assert.match(info.apiVersion, /^1\.\d+$/);
    assert.ok(info.id !== '' && info.version !== '');
  });
}
