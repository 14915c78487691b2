/** How busy a pretended host says it is: waves of its own, so that charts of a fleet look like one. */
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import type { Clock } from '../../shared/process/time/clock.js';

const WAVE_MS = 20 * 60_000;

/** The same for the same name and time. */
export function simulatedHostLoad(name: string, clock: Clock): () => HeartbeatReading {
  const phase = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7) / 997;
  return () => {
    const wave = (Math.sin((clock.now() / WAVE_MS + phase) * 2 * Math.PI) + 1) / 2;
    return {
      cpu: 0.05 + 0.4 * wave * phase,
      memory: 0.25 + 0.3 * phase + 0.05 * wave,
      disk: 0.2 + 0.5 * phase,
    };
  };
}
