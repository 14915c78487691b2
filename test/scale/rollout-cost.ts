/**
 * The controller's cost of a rollout by waves: `node dist/test/scale/rollout-cost.js [NODES …]`. Prints the time to
 * assign the waves, and the time of one Pod event with the step that follows it, which must not grow with the fleet.
 */
import { SteppedRollout } from '../bench/internals/stepped-rollout.js';

function measure(count: number): void {
  let longestCpu = 0;
  let before = process.cpuUsage();
  const drawing = performance.now();
  const drawingCpu = process.cpuUsage();
  const rollout = new SteppedRollout(count, () => {
    longestCpu = Math.max(longestCpu, process.cpuUsage(before).user / 1000);
    before = process.cpuUsage();
  });
  const drawn = performance.now() - drawing;
  const drawnCpu = process.cpuUsage(drawingCpu).user / 1000;
  const began = performance.now();
  const cpuBegan = process.cpuUsage();
  const events = rollout.replace();
  const each = ((performance.now() - began) / events) * 1000;
  const eachCpu = process.cpuUsage(cpuBegan).user / events;
  const text = `${count} nodes: waves drawn in ${drawn.toFixed(1)} ms (CPU ${drawnCpu.toFixed(1)}, ${longestCpu.toFixed(1)} without a pause), an event with its step ${each.toFixed(1)} µs (CPU ${eachCpu.toFixed(1)})`;
  process.stdout.write(`${text} (${events} events)\n`);
}

const sizes = process.argv.slice(2).map(Number);
for (const size of sizes.length > 0 ? sizes : [5_000, 50_000]) measure(size);
