/** A few Pods with every kind of volume under kills of the agent. `npm run extended` runs more. */
import { volumesUnderKills } from '../../harness/engines/volumes-under-kills.js';

for (const kind of ['docker', 'podman'] as const) volumesUnderKills(kind, 3);
