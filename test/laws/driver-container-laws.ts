/** Laws of drivers: ownership, start, exit and events of containers. */
import assert from 'node:assert/strict';
import { config, identity, type LawFixture, THEIRS } from './driver-fixture.js';
import { collect, listen, never, only, printed, rejects, until } from './driver-law-steps.js';

export function containerLaws(bench: LawFixture): void {
  bench.law('creating an identity twice is a conflict and creates no copy', async (podUid) => {
    await bench.ours.create(config(podUid, bench.fixture.waits));
    await rejects(bench.ours.create(config(podUid, bench.fixture.waits)), 'Conflict');
    assert.equal((await bench.ours.inspectPod(podUid)).length, 1);
  });

  bench.law('the next attempt is another container', async (podUid) => {
    await bench.ours.create(config(podUid, bench.fixture.waits));
    await bench.ours.create(config(podUid, bench.fixture.waits, { identity: identity(podUid, 'app', 1) }));
    const attempts = (await bench.ours.inspectPod(podUid)).map((container) => container.identity.attempt);
    assert.deepEqual(attempts.sort(), [0, 1]);
  });

  bench.law('the fields of a create are returned by inspect', async (podUid) => {
    await bench.ours.create(
      config(podUid, bench.fixture.waits, { labels: { 'everynode.dev/spec-hash': 'abc' } }),
    );
    const container = only(await bench.ours.inspectPod(podUid));
    assert.deepEqual(container.identity, identity(podUid, 'app', 0));
    assert.equal(container.labels['everynode.dev/spec-hash'], 'abc');
    assert.equal(container.image, bench.fixture.waits.image);
    assert.equal(container.state, 'created');
    assert.match(container.imageID, /sha256:[0-9a-f]{64}$/);
    assert.equal(container.startedAt, undefined);
  });

  bench.law('created, running, exited: each with its time', async (podUid) => {
    const id = await bench.run(podUid, bench.fixture.prints);
    const ended = await until(bench.ours, podUid, (container) => container.state === 'exited');
    assert.equal(ended.id, id);
    assert.equal(ended.exitCode, 3);
    assert.equal(ended.oomKilled, false);
    assert.ok((ended.startedAt ?? 0) > 0 && (ended.finishedAt ?? 0) >= (ended.startedAt ?? 0));
  });

  bench.law('starting a running container changes nothing', async (podUid) => {
    const id = await bench.run(podUid, bench.fixture.waits);
    const before = only(await bench.ours.inspectPod(podUid));
    await bench.ours.start(id);
    assert.deepEqual(only(await bench.ours.inspectPod(podUid)), before);
  });

  bench.law('stopping a stopped container and removing an absent one are no errors', async (podUid) => {
    const id = await bench.run(podUid, bench.fixture.waits);
    await bench.ours.stop(id, 10);
    await bench.ours.stop(id, 10);
    await bench.ours.remove(id);
    await bench.ours.remove(id);
    await bench.ours.stop(id, 10);
    assert.deepEqual(await bench.ours.inspectPod(podUid), []);
  });

  bench.law('a program that handles SIGTERM exits before the end of the grace period', async (podUid) => {
    const id = await bench.run(podUid, bench.fixture.waits);
    await printed(bench.ours, id, 'ready');
    const from = Date.now();
    await bench.ours.stop(id, 30);
    assert.ok(Date.now() - from < 15_000);
    assert.equal(only(await bench.ours.inspectPod(podUid)).exitCode, 0);
  });

  bench.law('a program that ignores SIGTERM is killed after the grace period', async (podUid) => {
    const id = await bench.run(podUid, bench.fixture.stubborn);
    const from = Date.now();
    await bench.ours.stop(id, 1);
    assert.ok(Date.now() - from >= 950);
    assert.equal(only(await bench.ours.inspectPod(podUid)).exitCode, 137);
  });

  bench.law('removing a running container ends it', async (podUid) => {
    await bench.ours.remove(await bench.run(podUid, bench.fixture.stubborn));
    assert.deepEqual(await bench.ours.inspectPod(podUid), []);
  });

  bench.law('starting an absent container is NotFound', async (podUid) => {
    const id = await bench.ours.create(config(podUid, bench.fixture.waits));
    await bench.ours.remove(id);
    await rejects(bench.ours.start(id), 'NotFound');
  });

  bench.law('a container that cannot start reports it, and is kept for inspection', async (podUid) => {
    await rejects(bench.run(podUid, bench.fixture.unstartable), 'RunContainerError', 'CreateContainerError');
  });

  bench.law('the memory limit applies', async (podUid) => {
    await bench.run(podUid, bench.fixture.greedy, { memoryLimitBytes: 16 * 2 ** 20 });
    const ended = await until(bench.ours, podUid, (container) => container.state === 'exited');
    assert.equal(ended.exitCode, 137);
  });

  bench.law('an exit for lack of memory is reported as such', async (podUid) => {
    // An engine learns of an exit and its cause separately, and may lose the cause. A single loss is not a failure.
    const causes: boolean[] = [];
    while (bench.fixture.reportsOutOfMemory && causes.length < 5 && !causes.includes(true)) {
      const uid = `${podUid}-${causes.length}`;
      await bench.run(uid, bench.fixture.greedy, { memoryLimitBytes: 16 * 2 ** 20 });
      causes.push((await until(bench.ours, uid, (container) => container.state === 'exited')).oomKilled);
    }
    assert.equal(causes.includes(true), bench.fixture.reportsOutOfMemory);
  });

  bench.law("another owner's containers are not listed, stopped, removed or read", async (podUid) => {
    const theirs = bench.fixture.driver(THEIRS);
    const id = await theirs.create(config(podUid, bench.fixture.waits));
    await theirs.start(id);
    assert.ok(!(await bench.ours.list()).some((container) => container.id === id));
    await bench.ours.stop(id, 0);
    await bench.ours.remove(id);
    await rejects(bench.ours.start(id), 'NotFound');
    await rejects(collect(bench.ours.logs(id, { follow: false, timestamps: false }, never())), 'NotFound');
    assert.equal(only(await theirs.inspectPod(podUid)).state, 'running');
    await theirs.remove(id);
    theirs.close();
  });

  bench.law(
    'events start with a resync and name the Pods whose containers start and exit',
    async (podUid) => {
      const events = listen(bench.ours);
      await events.next((event) => event.kind === 'resync');
      const id = await bench.run(podUid, bench.fixture.waits);
      await events.next((event) => event.kind === 'container' && event.podUid === podUid);
      await events.quiet();
      await bench.ours.stop(id, 5);
      await events.next((event) => event.kind === 'container' && event.podUid === podUid);
      await events.end();
    },
  );

  bench.law("another owner's containers cause no events", async (podUid) => {
    const theirs = bench.fixture.driver(THEIRS);
    const events = listen(bench.ours);
    await events.next((event) => event.kind === 'resync');
    await theirs.remove(await theirs.create(config(`${podUid}-theirs`, bench.fixture.waits)));
    await bench.ours.remove(await bench.ours.create(config(podUid, bench.fixture.waits)));
    const first = await events.next((event) => event.kind === 'container');
    assert.deepEqual(first, { kind: 'container', podUid });
    await events.end();
    theirs.close();
  });

  bench.law('a missing image has no id, cannot be pulled, and cannot be run', async (podUid) => {
    assert.equal(await bench.ours.findImage(bench.fixture.missingImage), undefined);
    await rejects(bench.ours.pull({ image: bench.fixture.missingImage, signal: never() }), 'ErrImagePull');
    await rejects(
      bench.ours.create(config(podUid, { image: bench.fixture.missingImage })),
      'CreateContainerError',
    );
  });

  bench.law('an engine that was down returns with its containers, and a resync', async (podUid) => {
    if (!bench.fixture.restart) return;
    const events = listen(bench.ours);
    await events.next((event) => event.kind === 'resync');
    const id = await bench.ours.create(config(podUid, bench.fixture.waits));
    await events.quiet();
    await bench.fixture.restart();
    await events.next((event) => event.kind === 'down');
    await events.next((event) => event.kind === 'resync');
    assert.equal(only(await bench.ours.inspectPod(podUid)).id, id);
    await events.end();
  });

  bench.law('the engine reports its name', async () => {
    const info = await bench.ours.info();
    assert.equal(info.name, bench.engine);
    assert.match(info.apiVersion, /^1\.\d+$/);
    assert.ok(info.id !== '' && info.version !== '');
  });
}
