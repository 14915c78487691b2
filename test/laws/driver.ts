/** The laws of RuntimeDriver (agent/runtime/driver.ts), run against the fake, Docker and Podman. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ContainerConfig,
  type ContainerOwner,
  type ObservedContainer,
  type OutputChunk,
  type RuntimeDriver,
  RuntimeError,
  type RuntimeEvent,
  SANDBOX,
} from '../../agent/runtime/driver.js';
import { MAX_OUTPUT_BYTES, runCommand } from '../../agent/runtime/run-command.js';
import { systemClock } from '../../shared/process/clock.js';
import { leaveOut } from '../harness/leave-out.js';

/** An image and what to run in it. */
export interface Program {
  image: string;
  command?: string[];
}

/** An engine under test, and programs in it whose behaviour the laws know. */
export interface DriverFixture {
  driver(owner: ContainerOwner): RuntimeDriver;
  /** Prints `ready` once it heeds SIGTERM, runs until then, and ends with 0. */
  waits: Program;
  /** Prints what it reads from its input. */
  copies: Program;
  /** Runs and ignores SIGTERM. */
  stubborn: Program;
  /** Prints `one`, `two`, `three` in this order and ends with 3. */
  prints: Program;
  /** Cannot be started. */
  unstartable: Program;
  /** Uses more memory than 16 MiB. */
  greedy: Program;
  /** Whether the engine here sees that a container was out of memory; conmon misses it on some cgroup v1 machines. */
  tellsOutOfMemory: boolean;
  /** Commands to run beside `waits`. */
  commands: {
    /** Prints `out` and a new line. */
    prints: string[];
    /** Prints `err` and a new line to stderr. */
    warns: string[];
    /** Ends with 7. */
    fails: string[];
    /** Prints what it reads until the end of its input. */
    copies: string[];
    /** Prints height and width of its terminal for each line that it reads. */
    sizes: string[];
    /** Runs for an hour. */
    waits: string[];
    /** Prints a million bytes. */
    floods: string[];
    /** Is not there. */
    missing: string[];
  };
  /** A name that can be asked for, and is not there. */
  missingImage: string;
  /** Ends the engine abruptly and brings it back with its data; absent where that is not possible. */
  restart?: () => Promise<void>;
  close(): Promise<void>;
}

const OURS: ContainerOwner = { clusterUID: 'law-cluster', nodeName: 'law-node' };
const THEIRS: ContainerOwner = { clusterUID: 'other-cluster', nodeName: 'law-node' };
const DEADLINE_MS = 20_000;

/** Declares the suite; `open` answers a reason instead where the engine is not to be had. */
export function driverLaws(engine: string, open: () => Promise<DriverFixture | string>): void {
  describe(`driver laws: ${engine}`, { concurrency: 1 }, () => {
    let fixture: DriverFixture;
    let missing: string | undefined;
    let ours: RuntimeDriver;
    let count = 0;

    // The fake waits by timers that keep no process alive.
    const alive = setInterval(() => undefined, 1000);

    before(async () => {
      const opened = await open();
      if (typeof opened === 'string') missing = opened;
      else fixture = opened;
      if (!missing) ours = fixture.driver(OURS);
    });
    after(async () => {
      clearInterval(alive);
      for (const controller of LISTENING) controller.abort();
      if (missing) return;
      ours.close();
      await fixture.close();
    });

    /** A law on a Pod uid of its own. */
    const law = (name: string, body: (podUid: string) => Promise<void>) =>
      test(name, { timeout: 90_000 }, async (context) => {
        if (missing) return leaveOut(context, `driver laws on ${engine}`, missing);
        count += 1;
        await body(`law-${count}-${process.pid}`);
      });
    const run = async (podUid: string, program: Program, overrides: Partial<ContainerConfig> = {}) => {
      const id = await ours.create(config(podUid, program, overrides));
      await ours.start(id);
      return id;
    };

    law('creating an identity twice is a conflict and makes no copy', async (podUid) => {
      await ours.create(config(podUid, fixture.waits));
      await rejects(ours.create(config(podUid, fixture.waits)), 'Conflict');
      assert.equal((await ours.inspectPod(podUid)).length, 1);
    });

    law('the next attempt is another container', async (podUid) => {
      await ours.create(config(podUid, fixture.waits));
      await ours.create(config(podUid, fixture.waits, { identity: identity(podUid, 'app', 1) }));
      const attempts = (await ours.inspectPod(podUid)).map((container) => container.identity.attempt);
      assert.deepEqual(attempts.sort(), [0, 1]);
    });

    law('what was given at create comes back', async (podUid) => {
      await ours.create(config(podUid, fixture.waits, { labels: { 'everynode.dev/spec-hash': 'abc' } }));
      const container = only(await ours.inspectPod(podUid));
      assert.deepEqual(container.identity, identity(podUid, 'app', 0));
      assert.equal(container.labels['everynode.dev/spec-hash'], 'abc');
      assert.equal(container.image, fixture.waits.image);
      assert.equal(container.state, 'created');
      assert.match(container.imageID, /sha256:[0-9a-f]{64}$/);
      assert.equal(container.startedAt, undefined);
    });

    law('created, running, exited: each with its time', async (podUid) => {
      const id = await run(podUid, fixture.prints);
      const ended = await until(ours, podUid, (container) => container.state === 'exited');
      assert.equal(ended.id, id);
      assert.equal(ended.exitCode, 3);
      assert.equal(ended.oomKilled, false);
      assert.ok((ended.startedAt ?? 0) > 0 && (ended.finishedAt ?? 0) >= (ended.startedAt ?? 0));
    });

    law('starting the running changes nothing', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      const before = only(await ours.inspectPod(podUid));
      await ours.start(id);
      assert.deepEqual(only(await ours.inspectPod(podUid)), before);
    });

    law('stopping the stopped and removing the absent are no errors', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      await ours.stop(id, 10);
      await ours.stop(id, 10);
      await ours.remove(id);
      await ours.remove(id);
      await ours.stop(id, 10);
      assert.deepEqual(await ours.inspectPod(podUid), []);
    });

    law('a program that heeds SIGTERM ends before the grace', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      await printed(ours, id, 'ready');
      const from = Date.now();
      await ours.stop(id, 30);
      assert.ok(Date.now() - from < 15_000);
      assert.equal(only(await ours.inspectPod(podUid)).exitCode, 0);
    });

    law('a program that does not is killed after the grace', async (podUid) => {
      const id = await run(podUid, fixture.stubborn);
      const from = Date.now();
      await ours.stop(id, 1);
      assert.ok(Date.now() - from >= 950);
      assert.equal(only(await ours.inspectPod(podUid)).exitCode, 137);
    });

    law('removing the running ends it', async (podUid) => {
      await ours.remove(await run(podUid, fixture.stubborn));
      assert.deepEqual(await ours.inspectPod(podUid), []);
    });

    law('starting the absent is NotFound', async (podUid) => {
      const id = await ours.create(config(podUid, fixture.waits));
      await ours.remove(id);
      await rejects(ours.start(id), 'NotFound');
    });

    law('a container that cannot start says so, and stays to be looked at', async (podUid) => {
      await rejects(run(podUid, fixture.unstartable), 'RunContainerError', 'CreateContainerError');
    });

    law('the memory limit holds', async (podUid) => {
      await run(podUid, fixture.greedy, { memoryLimitBytes: 16 * 2 ** 20 });
      const ended = await until(ours, podUid, (container) => container.state === 'exited');
      assert.equal(ended.exitCode, 137);
    });

    law('an end for lack of memory is told as such', async (podUid) => {
      // An engine hears of the end and of its cause apart, and may lose the cause: not every time.
      const causes: boolean[] = [];
      while (fixture.tellsOutOfMemory && causes.length < 5 && !causes.includes(true)) {
        const uid = `${podUid}-${causes.length}`;
        await run(uid, fixture.greedy, { memoryLimitBytes: 16 * 2 ** 20 });
        causes.push((await until(ours, uid, (container) => container.state === 'exited')).oomKilled);
      }
      assert.equal(causes.includes(true), fixture.tellsOutOfMemory);
    });

    law("another owner's containers are not listed, stopped, removed or read", async (podUid) => {
      const theirs = fixture.driver(THEIRS);
      const id = await theirs.create(config(podUid, fixture.waits));
      await theirs.start(id);
      assert.ok(!(await ours.list()).some((container) => container.id === id));
      await ours.stop(id, 0);
      await ours.remove(id);
      await rejects(ours.start(id), 'NotFound');
      await rejects(collect(ours.logs(id, { follow: false, timestamps: false }, never())), 'NotFound');
      assert.equal(only(await theirs.inspectPod(podUid)).state, 'running');
      await theirs.remove(id);
      theirs.close();
    });

    law('events begin with resync and name the Pods whose containers start and end', async (podUid) => {
      const events = listen(ours);
      await events.next((event) => event.kind === 'resync');
      const id = await run(podUid, fixture.waits);
      await events.next((event) => event.kind === 'container' && event.podUid === podUid);
      await events.quiet();
      await ours.stop(id, 5);
      await events.next((event) => event.kind === 'container' && event.podUid === podUid);
      await events.end();
    });

    law("another owner's containers make no events", async (podUid) => {
      const theirs = fixture.driver(THEIRS);
      const events = listen(ours);
      await events.next((event) => event.kind === 'resync');
      await theirs.remove(await theirs.create(config(`${podUid}-theirs`, fixture.waits)));
      await ours.remove(await ours.create(config(podUid, fixture.waits)));
      const first = await events.next((event) => event.kind === 'container');
      assert.deepEqual(first, { kind: 'container', podUid });
      await events.end();
      theirs.close();
    });

    law('an image that is missing has no id, cannot be pulled, and cannot be run', async (podUid) => {
      assert.equal(await ours.findImage(fixture.missingImage), undefined);
      await rejects(ours.pull({ image: fixture.missingImage, signal: never() }), 'ErrImagePull');
      await rejects(ours.create(config(podUid, { image: fixture.missingImage })), 'CreateContainerError');
    });

    law('logs come in order, whole or from the end', async (podUid) => {
      const id = await run(podUid, fixture.prints);
      await until(ours, podUid, (container) => container.state === 'exited');
      const read = (tailLines?: number) =>
        collect(
          ours.logs(
            id,
            { follow: false, timestamps: false, ...(tailLines !== undefined && { tailLines }) },
            never(),
          ),
        );
      assert.equal(await read(), 'one\ntwo\nthree\n');
      assert.equal(await read(1), 'three\n');
      assert.equal(await read(0), '');
    });

    law('log lines can carry their time', async (podUid) => {
      const id = await run(podUid, fixture.prints);
      await until(ours, podUid, (container) => container.state === 'exited');
      const text = await collect(ours.logs(id, { follow: false, timestamps: true }, never()));
      const [time = '', word] = (text.split('\n')[0] ?? '').split(' ');
      assert.equal(word, 'one');
      assert.ok(Number.isFinite(Date.parse(time)), time);
    });

    law('following a log ends with its container', async (podUid) => {
      const id = await run(podUid, fixture.prints);
      const text = await collect(ours.logs(id, { follow: true, timestamps: false }, never()));
      assert.equal(text, 'one\ntwo\nthree\n');
    });

    law('following a log ends when asked to', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      const controller = new AbortController();
      const reading = collect(ours.logs(id, { follow: true, timestamps: false }, controller.signal));
      controller.abort();
      assert.match(await reading, /^(ready\n)?$/);
    });

    law('the sandbox image is there without a registry, and waits until stopped', async (podUid) => {
      const image = await ours.ensureSandboxImage();
      assert.equal(await ours.ensureSandboxImage(), image);
      const id = await run(
        podUid,
        { image },
        { identity: identity(podUid, SANDBOX, 0), ipc: { kind: 'shareable' } },
      );
      const sandbox = only(await ours.inspectPod(podUid));
      assert.equal(sandbox.identity.container, SANDBOX);
      assert.equal(sandbox.state, 'running');
      assert.match(sandbox.ip ?? '', /^\d+\.\d+\.\d+\.\d+$/);
      await run(podUid, fixture.waits, {
        network: { kind: 'container', id },
        ipc: { kind: 'container', id },
      });
      await ours.stop(id, 20);
      const stopped = (await ours.inspectPod(podUid)).find((container) => container.id === id);
      assert.equal(stopped?.exitCode, 0);
    });

    law('a sandbox can be removed before its ended members, and with them at once', async (podUid) => {
      const image = await ours.ensureSandboxImage();
      for (const attempt of [0, 1]) {
        const sandbox = await run(podUid, { image }, { identity: identity(podUid, SANDBOX, attempt) });
        const network = { kind: 'container', id: sandbox } as const;
        const member = await run(podUid, fixture.waits, {
          network,
          identity: identity(podUid, 'app', attempt),
        });
        await Promise.all([ours.stop(member, 5), ours.stop(sandbox, 5)]);
        if (attempt === 0) await ours.remove(sandbox);
        else await Promise.all([ours.remove(sandbox), ours.remove(member)]);
        const left = (await ours.inspectPod(podUid)).map(({ id }) => id);
        assert.ok(!left.includes(sandbox));
      }
    });

    const exec = (id: string, command: string[], io: { stdin?: boolean; tty?: boolean } = {}) =>
      ours.exec(id, { command, stdin: io.stdin ?? false, tty: io.tty ?? false }, never());

    law('a command prints on its streams and ends with its code', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      const { prints, warns, fails, missing } = fixture.commands;
      const printing = await exec(id, prints);
      assert.deepEqual(await outputOf(printing.output), { stdout: 'out\n', stderr: '' });
      assert.equal(await printing.exitCode(), 0);
      assert.equal((await outputOf((await exec(id, warns)).output)).stderr, 'err\n');
      const failing = await exec(id, fails);
      await outputOf(failing.output);
      assert.equal(await failing.exitCode(), 7);
      const result = await runCommand(ours, id, missing, DEADLINE_MS, systemClock);
      assert.ok(result.kind === 'ended' && [126, 127].includes(result.exitCode));
      assert.match(result.output.toString(), /not found|no such file/);
    });

    law('a command reads its input to the end', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      const copying = await exec(id, fixture.commands.copies, { stdin: true });
      const output = outputOf(copying.output);
      const piece = Buffer.alloc(65_536, 'x');
      for (let count = 0; count < 32; count += 1) await copying.write(piece);
      copying.endInput();
      assert.equal((await output).stdout.length, 32 * piece.length);
      assert.equal(await copying.exitCode(), 0);
    });

    law('without input a command reads the end at once', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      const copying = await exec(id, fixture.commands.copies);
      await outputOf(copying.output);
      assert.equal(await copying.exitCode(), 0);
    });

    law('a terminal has one stream and the size it was given last', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      const sizing = await exec(id, fixture.commands.sizes, { stdin: true, tty: true });
      await sizing.resize({ width: 101, height: 37 });
      await sizing.write(Buffer.from('\n'));
      let text = '';
      for await (const { from, bytes } of sizing.output) {
        assert.equal(from, 'stdout');
        text += Buffer.from(bytes).toString();
        if (text.includes('37 101')) break;
      }
      assert.match(text, /37 101/);
    });

    law('a killed command has ended', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      const waiting = await exec(id, fixture.commands.waits);
      assert.equal(await waiting.kill(), true);
      await outputOf(waiting.output);
      assert.equal(await waiting.exitCode(), 137);
      assert.equal(await waiting.kill(), true);
    });

    law('a command that is let go gives no more output, and its container runs on', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      const letGo = new AbortController();
      const request = { command: fixture.commands.waits, stdin: false, tty: false };
      const waiting = await ours.exec(id, request, letGo.signal);
      const reading = assert.rejects(outputOf(waiting.output));
      letGo.abort();
      await reading;
      await waiting.kill();
      assert.equal(only(await ours.inspectPod(podUid)).state, 'running');
    });

    law('a command with a deadline is bounded in time and output', async (podUid) => {
      const id = await run(podUid, fixture.waits);
      const { waits, floods } = fixture.commands;
      const late = await runCommand(ours, id, waits, 300, systemClock);
      assert.equal(late.kind, 'late');
      const flood = await runCommand(ours, id, floods, DEADLINE_MS, systemClock);
      assert.deepEqual(
        [flood.kind, flood.output.length, flood.kind === 'ended' && flood.exitCode],
        ['ended', MAX_OUTPUT_BYTES, 0],
      );
    });

    law('a command runs in none but a running container of ours', async (podUid) => {
      const id = await ours.create(config(podUid, fixture.waits));
      await rejects(exec(id, fixture.commands.prints), 'NotRunning');
      await ours.remove(id);
      await rejects(exec(id, fixture.commands.prints), 'NotFound');
      const theirs = fixture.driver(THEIRS);
      const other = await theirs.create(config(podUid, fixture.waits));
      await theirs.start(other);
      await rejects(exec(other, fixture.commands.prints), 'NotFound');
      await rejects(ours.attach(other, { stdin: false }, never()), 'NotFound');
      await theirs.remove(other);
      theirs.close();
    });

    law('attaching gives the streams of the first process', async (podUid) => {
      const id = await run(podUid, fixture.copies, { stdin: true });
      const attached = await ours.attach(id, { stdin: true }, never());
      await attached.write(Buffer.from('hello\n'));
      let text = '';
      for await (const { bytes } of attached.output) {
        text += Buffer.from(bytes).toString();
        if (text.includes('hello\n')) break;
      }
      assert.equal(text, 'hello\n');
    });

    law('an engine that went away comes back with its containers, and a resync', async (podUid) => {
      if (!fixture.restart) return;
      const events = listen(ours);
      await events.next((event) => event.kind === 'resync');
      const id = await ours.create(config(podUid, fixture.waits));
      await events.quiet();
      await fixture.restart();
      await events.next((event) => event.kind === 'down');
      await events.next((event) => event.kind === 'resync');
      assert.equal(only(await ours.inspectPod(podUid)).id, id);
      await events.end();
    });

    law('the engine names itself', async () => {
      const info = await ours.info();
      assert.equal(info.name, engine);
      assert.match(info.apiVersion, /^1\.\d+$/);
      assert.ok(info.id !== '' && info.version !== '');
    });
  });
}

/** What came on each stream, once all of it has come. */
export async function outputOf(
  output: AsyncIterable<OutputChunk>,
): Promise<{ stdout: string; stderr: string }> {
  const text = { stdout: '', stderr: '' };
  for await (const { from, bytes } of output) text[from] += Buffer.from(bytes).toString();
  return text;
}

/** A container on the host's network, so that thousands of laws need no bridge; what `overrides` says goes first. */
export function config(
  podUid: string,
  program: Program,
  overrides: Partial<ContainerConfig> = {},
): ContainerConfig {
  return {
    identity: identity(podUid, 'app', 0),
    image: program.image,
    ...(program.command ? { command: program.command } : {}),
    env: [],
    labels: {},
    mounts: [],
    ports: [],
    network: { kind: overrides.identity?.container === SANDBOX ? 'bridge' : 'host' },
    ipc: { kind: 'host' },
    pid: { kind: 'private' },
    privileged: false,
    readOnlyRootFilesystem: false,
    capabilitiesAdd: [],
    capabilitiesDrop: [],
    noNewPrivileges: false,
    tty: false,
    stdin: false,
    ...overrides,
  };
}

function identity(podUid: string, container: string, attempt: number) {
  return { podUid, podNamespace: 'default', podName: 'law', container, attempt };
}

function only(containers: ObservedContainer[]): ObservedContainer {
  assert.equal(containers.length, 1);
  return containers[0] as ObservedContainer;
}

async function rejects(promise: Promise<unknown>, ...reasons: string[]): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof RuntimeError, String(error));
    assert.ok(reasons.includes(error.reason), `${error.reason}: ${error.message}`);
    return true;
  });
}

function never(): AbortSignal {
  return new AbortController().signal;
}

/** Before a program has set its trap, SIGTERM means nothing to the first process of a container. */
async function printed(driver: RuntimeDriver, id: string, line: string): Promise<void> {
  const stop = new AbortController();
  let text = '';
  for await (const bytes of driver.logs(id, { follow: true, timestamps: false }, stop.signal)) {
    text += Buffer.from(bytes).toString();
    if (text.includes(`${line}\n`)) break;
  }
  stop.abort();
  assert.match(text, new RegExp(line));
}

async function collect(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function until(
  driver: RuntimeDriver,
  podUid: string,
  holds: (container: ObservedContainer) => boolean,
): Promise<ObservedContainer> {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const found = (await driver.inspectPod(podUid)).find(holds);
    if (found) return found;
    assert.ok(Date.now() < end, 'the container did not get there');
    await sleep(20);
  }
}

/** What a law that failed left open; it would keep the process alive. */
const LISTENING = new Set<AbortController>();

/** The driver's events, waited for one after another. */
function listen(driver: RuntimeDriver) {
  const controller = new AbortController();
  LISTENING.add(controller);
  const stream = driver.events(controller.signal)[Symbol.asyncIterator]();
  const pull = () => stream.next().then(({ value }) => value as RuntimeEvent);
  let pending = pull();
  const within = <T>(ms: number, fallback: () => T) => sleep(ms, undefined, { ref: false }).then(fallback);
  return {
    /** The next event that `holds`; others before it are passed over. */
    async next(holds: (event: RuntimeEvent) => boolean): Promise<RuntimeEvent> {
      const late = within(DEADLINE_MS, () => assert.fail('the event did not come'));
      for (;;) {
        const event = await Promise.race([pending, late]);
        pending = pull();
        if (holds(event)) return event;
      }
    },
    /** Passes over what comes until nothing has come for a while. */
    async quiet(): Promise<void> {
      while ((await Promise.race([pending, within(300, () => undefined)])) !== undefined) pending = pull();
    },
    async end(): Promise<void> {
      controller.abort();
      await pending;
    },
  };
}
