/** Pulls on a hollow engine: concurrency, credentials, mirrors and prefetching. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ImagePuller, type ImagePullerOptions } from '../../../agent/images/image-puller.js';
import { PrefetchedImages } from '../../../agent/images/prefetched-images.js';
import { PullQueue } from '../../../agent/images/pull-queue.js';
import { RegistrySettings } from '../../../agent/images/registry-settings.js';
import { type EngineImage, type PullRequest, RuntimeError } from '../../../agent/runtime/runtime-driver.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { settle } from '../../harness/pods/pod-host-fixture.js';

const never = new AbortController().signal;
const auth = (user: string) => ({ auth: Buffer.from(`${user}:pw`).toString('base64') });

/** An engine with registry responses from the test. */
class Engine {
  readonly has = new Map<string, EngineImage>();
  readonly pulls: string[] = [];
  answer: (request: PullRequest) => Promise<void> = async () => undefined;

  async findImage(image: string): Promise<EngineImage | undefined> {
    return this.has.get(image);
  }

  async pull(request: PullRequest): Promise<void> {
    const header = request.auth && JSON.parse(Buffer.from(request.auth, 'base64url').toString());
    this.pulls.push(`${request.image}${header ? ` as ${header.username}` : ''}`);
    await this.answer(request);
    this.has.set(request.image, { id: `sha256:${request.image}`, user: '', sizeBytes: 5 });
  }

  async tag(image: string, name: string): Promise<void> {
    const found = this.has.get(image);
    if (found) this.has.set(name, found);
  }
}

function open(changes: Partial<ImagePullerOptions> = {}): { engine: Engine; images: ImagePuller } {
  const engine = new Engine();
  const registries = new RegistrySettings(undefined);
  const clock = new ManualClock(1000);
  return {
    engine,
    images: new ImagePuller({ driver: engine, clock, registries, maxParallelPulls: 2, ...changes }),
  };
}

function refused(): Promise<never> {
  return Promise.reject(new RuntimeError('ErrImagePull', 'unauthorized', true));
}

describe('pulls', () => {
  test('concurrent pulls are limited; the others wait in order and can be cancelled', async () => {
    const queue = new PullQueue(1);
    const order: string[] = [];
    let release = (): void => undefined;
    const first = queue.run(() => new Promise<void>((resolve) => (release = resolve)), never);
    const leaving = new AbortController();
    const left = queue.run(async () => void order.push('left'), leaving.signal);
    const second = queue.run(async () => void order.push('second'), never);
    const third = queue.run(async () => void order.push('third'), never);
    leaving.abort(new Error('gone'));
    await assert.rejects(left, /gone/);
    await settle();
    assert.deepEqual(order, []);
    release();
    await Promise.all([first, second, third]);
    assert.deepEqual(order, ['second', 'third']);
  });

  test('an image that was already present is distinguished from a pulled one', async () => {
    const told: [string, boolean][] = [];
    const { engine, images } = open({ onPulled: ({ name }, wasThere) => void told.push([name, wasThere]) });
    engine.has.set('docker.io/library/theirs:latest', { id: 'sha256:t', user: '', sizeBytes: 1 });
    await images.ensure({ image: 'theirs' }, never, () => undefined);
    await images.ensure({ image: 'ours' }, never, () => undefined);
    assert.deepEqual(told, [
      ['docker.io/library/theirs:latest', true],
      ['docker.io/library/ours:latest', false],
    ]);
  });

  test('a failing pull frees its place for the next', async () => {
    const queue = new PullQueue(1);
    await assert.rejects(queue.run(refused, never), /unauthorized/);
    assert.equal(await queue.run(async () => 'next', never), 'next');
  });

  test('an invalid image name is rejected before any registry request', async () => {
    const { engine, images } = open();
    await assert.rejects(
      images.ensure({ image: 'App:1' }, never, () => undefined),
      {
        reason: 'InvalidImageName',
        message:
          'Failed to apply default image tag "App:1": couldn\'t parse image name "App:1": ' +
          'invalid reference format: repository name (library/App) must be lowercase',
      },
    );
    assert.deepEqual(engine.pulls, []);
  });
});

test('a silent registry loses its place', async () => {
  const clock = new ManualClock(0);
  const { engine, images } = open({ clock, maxParallelPulls: 1 });
  let progress = (): void => undefined;
  engine.answer = ({ image, onProgress = progress, signal }) => {
    progress = onProgress;
    if (!image.includes('silent')) return Promise.resolve();
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  };
  const silent = assert.rejects(
    images.ensure({ image: 'silent:1' }, never, () => undefined),
    {
      reason: 'ErrImagePull',
      message: 'no progress in 10m0s',
    },
  );
  const next = images.ensure({ image: 'next:1' }, never, () => undefined);
  for (const minutes of [9, 9, 10]) {
    await settle();
    assert.equal(engine.pulls.length, 1);
    clock.advance(minutes * 60_000);
    progress();
  }
  await silent;
  assert.equal((await next).kind, 'pulled');
});

describe('registry credentials and mirrors', () => {
  test('every matching credential is tried, and the file may change between two pulls', async () => {
    const path = join(temporaryDirectory(), 'registries.json');
    const { engine, images } = open({ registries: new RegistrySettings(path) });
    engine.answer = ({ auth: given }) =>
      given && Buffer.from(given, 'base64url').toString().includes('"good"') ? Promise.resolve() : refused();
    const request = { image: 'host:5000/app:1' };
    await assert.rejects(
      images.ensure(request, never, () => undefined),
      { message: 'unauthorized' },
    );
    writeFileSync(
      path,
      JSON.stringify({ auths: { 'host:5000': auth('bad'), 'host:5000/app': auth('worse') } }),
    );
    await assert.rejects(
      images.ensure(request, never, () => undefined),
      {
        message: '[unauthorized, unauthorized]',
      },
    );
    writeFileSync(path, JSON.stringify({ auths: { 'host:5000': auth('good') } }));
    assert.equal((await images.ensure(request, never, () => undefined)).kind, 'pulled');
    assert.deepEqual(engine.pulls, [
      'host:5000/app:1',
      'host:5000/app:1 as worse',
      'host:5000/app:1 as bad',
      'host:5000/app:1 as good',
    ]);
  });

  test('a mirror provides the image under its own name; a failing mirror is skipped', async () => {
    const path = join(temporaryDirectory(), 'registries.json');
    writeFileSync(path, JSON.stringify({ mirrors: { 'docker.io': ['down:1', 'up:2'] } }));
    const { engine, images } = open({ registries: new RegistrySettings(path) });
    engine.answer = ({ image }) => (image.startsWith('down') ? refused() : Promise.resolve());
    const tagged = await images.ensure({ image: 'nginx:1' }, never, () => undefined);
    assert.equal(tagged.image.name, 'docker.io/library/nginx:1');
    const digest = `nginx@sha256:${'a'.repeat(64)}`;
    const pinned = await images.ensure({ image: digest }, never, () => undefined);
    assert.equal(pinned.image.name, `up:2/library/${digest}`);
    assert.equal((await images.ensure({ image: digest }, never, () => undefined)).kind, 'present');
    assert.equal(engine.pulls.length, 4);
  });

  test('an unreadable credentials file is reported', async () => {
    const path = join(temporaryDirectory(), 'registries.json');
    const { images } = open({ registries: new RegistrySettings(path) });
    const why = async (text: string): Promise<string> => {
      writeFileSync(path, text);
      const error: unknown = await images.ensure({ image: 'a:1' }, never, () => undefined).catch((e) => e);
      assert.ok(error instanceof RuntimeError && error.reason === 'ErrImagePull');
      return error.message.split(`${path}: `)[1] ?? error.message;
    };
    assert.equal(await why('{'), 'it is not valid JSON');
    assert.match(await why('{"mirrors": {"docker.io": "x"}}'), /^mirrors: must be lists/);
    assert.match(await why('{"auths": {"a.io": {"auth": "c2VjcmV0"}}}'), /^auths\[a\.io\]/);
  });
});

describe('prefetched images', () => {
  test('are pulled, retried after a failure, and released', async () => {
    const clock = new ManualClock(0);
    const { engine, images } = open({ clock });
    const held = new PrefetchedImages(images, clock, silentLogger);
    const pass = async (ms: number): Promise<void> => {
      clock.advance(ms);
      for (let turn = 0; turn < 5; turn += 1) await settle();
    };
    let isUp = false;
    engine.answer = () => (isUp ? Promise.resolve() : refused());
    held.prefetch(['app:1', 'gone:1']);
    await pass(0);
    held.prefetch(['app:1']);
    isUp = true;
    await pass(9_000);
    assert.equal(engine.pulls.length, 2);
    await pass(1_000);
    assert.deepEqual([...engine.has.keys()], ['docker.io/library/app:1']);
    assert.deepEqual(held.names(), ['docker.io/library/app:1']);
    held.stop();
    assert.deepEqual(held.names(), []);
  });
});
