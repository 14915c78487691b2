/** Makes a failing history short: leaves steps out for as long as what is left still fails (delta debugging). */
import type { History } from './history.js';

/**
 * A history that `fails` as well and of which no single step can be left out, or the shortest found in `maxTries` runs.
 * `fails` is to say whether it fails in the same way.
 */
export async function shrink(
  history: History,
  fails: (history: History) => Promise<boolean>,
  maxTries: number,
): Promise<History> {
  let best = history;
  let tries = 0;
  const attempt = async (candidate: History): Promise<boolean> => {
    if (tries >= maxTries) return false;
    tries += 1;
    if (!(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.steps.length; ) {
      const { steps } = best;
      const shorter = { ...best, steps: [...steps.slice(0, from), ...steps.slice(from + size)] };
      if (!(await attempt(shorter))) from += size;
    }
  }
  for (let nodes = 1; nodes < best.nodes; nodes++) if (await attempt({ ...best, nodes })) break;
  await attempt({ ...best, speed: 0 });
  return best;
}
