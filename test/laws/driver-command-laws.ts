/** Laws of drivers: additional commands in a container, and its standard streams. */
import assert from 'node:assert/strict';
import { MAX_OUTPUT_BYTES, runContainerCommand } from '../../agent/runtime/container-command.js';
import { systemClock } from '../../shared/process/time/clock.js';
import { config, DEADLINE_MS, type LawFixture, THEIRS } from './driver-fixture.js';
import { never, only, outputOf, rejects } from './driver-law-steps.js';

export function commandLaws(fixture: LawFixture): void {
  const exec = (id: string, command: string[], io: { stdin?: boolean; tty?: boolean } = {}) =>
    fixture.ours.exec(id, { command, stdin: io.stdin ?? false, tty: io.tty ?? false }, never());

  fixture.law('a command writes to its streams and exits with its code', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    const { prints, warns, fails, missing } = fixture.fixture.commands;
    const printing = await exec(id, prints);
    assert.deepEqual(await outputOf(printing.output), { stdout: 'out\n', stderr: '' });
    assert.equal(await printing.exitCode(), 0);
    assert.equal((await outputOf((await exec(id, warns)).output)).stderr, 'err\n');
    const failing = await exec(id, fails);
    await outputOf(failing.output);
    assert.equal(await failing.exitCode(), 7);
    const result = await runContainerCommand(fixture.ours, id, missing, DEADLINE_MS, systemClock);
    assert.ok(result.kind === 'ended' && [126, 127].includes(result.exitCode));
    assert.match(result.output.toString(), /not found|no such file/);
  });

  fixture.law('a command reads its input to the end', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    const copying = await exec(id, fixture.fixture.commands.copies, { stdin: true });
    const output = outputOf(copying.output);
    const piece = Buffer.alloc(65_536, 'x');
    for (let count = 0; count < 32; count += 1) await copying.write(piece);
    copying.endInput();
    assert.equal((await output).stdout.length, 32 * piece.length);
    assert.equal(await copying.exitCode(), 0);
  });

  fixture.law('a command without input reads the end at once', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    const copying = await exec(id, fixture.fixture.commands.copies);
    await outputOf(copying.output);
    assert.equal(await copying.exitCode(), 0);
  });

  fixture.law('a terminal has one stream and its latest size', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    const sizing = await exec(id, fixture.fixture.commands.sizes, { stdin: true, tty: true });
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

  fixture.law('a killed command has exited', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    const waiting = await exec(id, fixture.fixture.commands.waits);
    assert.equal(await waiting.kill(), true);
    await outputOf(waiting.output);
    assert.equal(await waiting.exitCode(), 137);
    assert.equal(await waiting.kill(), true);
  });

  fixture.law('a detached command gives no more output, and its container keeps running', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    const letGo = new AbortController();
    const request = { command: fixture.fixture.commands.waits, stdin: false, tty: false };
    const waiting = await fixture.ours.exec(id, request, letGo.signal);
    const reading = assert.rejects(outputOf(waiting.output));
    letGo.abort();
    await reading;
    await waiting.kill();
    assert.equal(only(await fixture.ours.inspectPod(podUid)).state, 'running');
  });

  fixture.law('a command with a deadline is bounded in time and output', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.waits);
    const { waits, floods } = fixture.fixture.commands;
    const late = await runContainerCommand(fixture.ours, id, waits, 300, systemClock);
    assert.equal(late.kind, 'timedOut');
    const flood = await runContainerCommand(fixture.ours, id, floods, DEADLINE_MS, systemClock);
    assert.deepEqual(
      [flood.kind, flood.output.length, flood.kind === 'ended' && flood.exitCode],
      ['ended', MAX_OUTPUT_BYTES, 0],
    );
  });

  fixture.law('a command runs only in a running container of its own agent', async (podUid) => {
    const id = await fixture.ours.create(config(podUid, fixture.fixture.waits));
    await rejects(exec(id, fixture.fixture.commands.prints), 'NotRunning');
    await fixture.ours.remove(id);
    await rejects(exec(id, fixture.fixture.commands.prints), 'NotFound');
    const theirs = fixture.fixture.driver(THEIRS);
    const other = await theirs.create(config(podUid, fixture.fixture.waits));
    await theirs.start(other);
    await rejects(exec(other, fixture.fixture.commands.prints), 'NotFound');
    await rejects(fixture.ours.attach(other, { stdin: false }, never()), 'NotFound');
    await theirs.remove(other);
    theirs.close();
  });

  fixture.law('attaching gives the streams of the first process', async (podUid) => {
    const id = await fixture.run(podUid, fixture.fixture.copies, { stdin: true });
    const attached = await fixture.ours.attach(id, { stdin: true }, never());
    await attached.write(Buffer.from('hello\n'));
    let text = '';
    for await (const { bytes } of attached.output) {
      text += Buffer.from(bytes).toString();
      if (text.includes('hello\n')) break;
    }
    assert.equal(text, 'hello\n');
  });
}
