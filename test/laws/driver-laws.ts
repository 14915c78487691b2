/** The laws of RuntimeDriver (agent/runtime/runtime-driver.ts), run against the fake, Docker and Podman. */
import { after, before, describe, test } from 'node:test';
import type { RuntimeDriver } from '../../agent/runtime/runtime-driver.js';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { commandLaws } from './driver-command-laws.js';
import { containerLaws } from './driver-container-laws.js';
import { config, type DriverFixture, type LawFixture, OURS } from './driver-fixture.js';
import { stopListening } from './driver-law-steps.js';
import { logLaws } from './driver-log-laws.js';
import { sandboxLaws } from './driver-sandbox-laws.js';

/** Declares the suite. `open` resolves with a reason where the engine is unavailable. */
export function driverLaws(engine: string, open: () => Promise<DriverFixture | string>): void {
  describe(`driver laws: ${engine}`, { concurrency: 1 }, () => {
    let opened: { fixture: DriverFixture; ours: RuntimeDriver } | undefined;
    let missing: string | undefined;
    let count = 0;

    // The fake's timers do not keep the process alive.
    const alive = setInterval(() => undefined, 1000);

    before(async () => {
      const fixture = await open();
      if (typeof fixture === 'string') missing = fixture;
      else opened = { fixture, ours: fixture.driver(OURS) };
    });
    after(async () => {
      clearInterval(alive);
      stopListening();
      opened?.ours.close();
      await opened?.fixture.close();
    });

    const bench: LawFixture = {
      engine,
      get fixture() {
        return present(opened).fixture;
      },
      get ours() {
        return present(opened).ours;
      },
      law: (name, body) =>
        void test(name, { timeout: 90_000 }, async (context) => {
          if (missing !== undefined) return leaveOut(context, `driver laws on ${engine}`, missing);
          count += 1;
          await body(`law-${count}-${process.pid}`);
        }),
      run: async (podUid, program, overrides = {}) => {
        const { ours } = present(opened);
        const id = await ours.create(config(podUid, program, overrides));
        await ours.start(id);
        return id;
      },
    };
    containerLaws(bench);
    logLaws(bench);
    sandboxLaws(bench);
    commandLaws(bench);
  });
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a law ran before its engine was opened');
  return value;
}
