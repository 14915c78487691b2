/** Pod workers over a hollow engine, on a clock that the test advances. */
import { HollowDriver } from '../../../agent/runtime/hollow/hollow-driver.js';
import { HollowEngine } from '../../../agent/runtime/hollow/hollow-engine.js';
import type { ImageBehaviourRow } from '../../../agent/runtime/hollow/image-behaviours.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { FIXTURE_OWNER, PodHostFixture, settle } from './pod-host-fixture.js';

const START_MS = Date.parse('2026-01-01T00:00:00Z');

/** A host whose engine, clock and coordinator the test controls. */
export class PodFixture extends PodHostFixture {
  readonly engine: HollowEngine;
  readonly #manual: ManualClock;

  constructor(images: ImageBehaviourRow[] = []) {
    const clock = new ManualClock(START_MS);
    const engine = new HollowEngine({ clock, images });
    super(new HollowDriver(engine, FIXTURE_OWNER), clock, 'hollow');
    this.engine = engine;
    this.#manual = clock;
  }

  /** Steps the host's wall clock. Timers are not affected. */
  stepWallClock(byMs: number): void {
    this.#manual.stepWallClock(byMs);
  }

  /** Runs everything that is due, then advances the clock. */
  async pass(ms: number): Promise<void> {
    for (let round = 0; round < 20; round += 1) await settle();
    this.#manual.advance(ms);
    for (let round = 0; round < 20; round += 1) await settle();
  }
}
