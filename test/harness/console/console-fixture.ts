/** Fixture of console tests: a hollow fleet, a browser and its pages. Each page must end without problems. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { leaveOut } from '../basics/skip-reason.js';
import { type SimulatedFleet, startSimulatedFleet } from '../simulated/simulated-fleet-fixture.js';
import { accessOf, signIn, startBrowser, type Visit, visit, whyNoBrowser } from './browser.js';

/** Timeout for a page, generous because other tests share the machine. */
const PATIENCE_MS = 60_000;

type Flags = Readonly<Record<string, unknown>>;

/** Defines the browser tests of a file. Without a browser they are skipped under `name`. */
export function describeInBrowser(name: string, suite: () => void): void {
  const why = whyNoBrowser();
  if (why === undefined) describe(name, suite);
  else test(`${name} in a browser`, (context) => leaveOut(context, `${name} in a browser`, why));
}

export class ConsoleFixture {
  #fleet: SimulatedFleet | undefined;
  #browser: Browser | undefined;
  readonly #visits: Visit[] = [];

  /**
   * Runs while the tests of this `describe` run. `flags` returns the coordinator's flags and is called before its
   * start.
   */
  constructor(nodes: number, flags: () => Promise<Flags> = async () => ({})) {
    before(async () => {
      this.#fleet = await startSimulatedFleet(nodes, 1, await flags());
      this.#browser = await startBrowser();
    });
    after(async () => {
      await this.#browser?.close();
      await this.#fleet?.stop();
    });
    afterEach(async () => {
      for (const { context, problems } of this.#visits.splice(0)) {
        assert.deepEqual(problems, []);
        await context.close();
      }
    });
  }

  get fleet(): SimulatedFleet {
    assert.ok(this.#fleet, 'the fleet has started');
    return this.#fleet;
  }

  /** Address of the coordinator, and the administrator's token. */
  get access(): { server: string; token: string } {
    return accessOf(this.fleet.kubeconfig);
  }

  /** Opens an empty page that is closed after its test. */
  async visit(...[viewport, theme, options]: VisitOptions): Promise<Visit> {
    assert.ok(this.#browser, 'the browser has started');
    const opened = await visit(this.#browser, viewport, theme, options);
    opened.page.setDefaultTimeout(PATIENCE_MS);
    this.#visits.push(opened);
    return opened;
  }

  /** Opens the console at `path` in a desktop window and signs in, as the administrator or with `token`. */
  async signedIn(
    path = '',
    { token = this.access.token, ...options }: BrowserContextOptions & { token?: string } = {},
  ): Promise<Page> {
    const { page } = await this.visit(undefined, undefined, options);
    await signIn(page, this.access.server, token, path);
    return page;
  }
}

type VisitOptions = Parameters<typeof visit> extends [Browser, ...infer Rest] ? Rest : never;
