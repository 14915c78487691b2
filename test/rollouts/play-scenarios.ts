/** Runs scenarios one after another on one fleet and summarises their results. */
import { isContained, type Scenario, type ScenarioOutcome } from './rollout-scenario.js';
import { ScenarioFleet, type ScenarioFleetOptions } from './scenario-fleet.js';
import { BAD_RELEASES } from './scenarios/bad-releases.js';
import { GOOD_RELEASES } from './scenarios/good-releases.js';
import { HOST_DECISIONS } from './scenarios/host-decisions.js';

export const ALL_SCENARIOS: readonly Scenario[] = [...GOOD_RELEASES, ...HOST_DECISIONS, ...BAD_RELEASES];

interface PlayOptions extends ScenarioFleetOptions {
  isMeant: (scenario: Scenario) => boolean;
}

/** Result of one scenario; `error`: the rule that it broke. */
interface Played {
  scenario: Scenario;
  seconds: number;
  outcome?: ScenarioOutcome;
  error?: Error;
}

/** Runs the selected scenarios. `lines`: a table of their results. */
export async function playAll(
  options: PlayOptions,
): Promise<{ played: Played[]; lines: string[]; broken: number }> {
  const stage = await ScenarioFleet.start(options);
  const played: Played[] = [];
  try {
    for (const scenario of ALL_SCENARIOS.filter(options.isMeant)) {
      options.print(scenario.name);
      played.push(await play(scenario, stage));
    }
  } finally {
    await stage.stop();
  }
  const rows = played.map((one) => row(one, options.nodes));
  const heading = `| release | ended | hosts that ran the bad release | seconds | over the policy's own time |`;
  const broken = played.filter(({ error }) => error).length;
  return { played, lines: [heading, '|---|---|---|---|---|', ...rows], broken };
}

async function play(scenario: Scenario, stage: ScenarioFleet): Promise<Played> {
  const startMs = performance.now();
  const seconds = () => (performance.now() - startMs) / 1000;
  try {
    const outcome = await scenario.play(stage);
    if (isContained(outcome)) return { scenario, outcome, seconds: seconds() };
    const error = new Error(
      `${outcome.hostsWithBadRelease} hosts ran the bad release, ${outcome.maxHostsWithBadRelease} were allowed`,
    );
    return { scenario, outcome, error, seconds: seconds() };
  } catch (error) {
    const found = error instanceof Error ? error : new Error(String(error));
    stage.print(`BROKEN: ${found.message}`);
    return { scenario, error: found, seconds: seconds() };
  }
}

function row({ scenario, outcome, error, seconds }: Played, nodes: number): string {
  const { phase = 'broken', hostsWithBadRelease: ranBad, duration: took } = outcome ?? {};
  const bad = ranBad === undefined ? '–' : `${ranBad} of ${nodes}`;
  const over = took ? overText(took) : '–';
  const cells = [scenario.name, error ? `BROKEN: ${error.message}` : phase, bad, seconds.toFixed(1), over];
  return `| ${cells.join(' | ')} |`;
}

/** `7.4 s for 6.5 s = 1.14×`: a release may take at most 1.2 times the minimum that its policy implies. */
function overText({ ms, floorMs }: NonNullable<ScenarioOutcome['duration']>): string {
  const [took, floor] = [ms, floorMs].map((time) => `${(time / 1000).toFixed(1)} s`);
  return `${took} for ${floor} = ${(ms / floorMs).toFixed(2)}×`;
}
