/** Many Pods with every kind of volume under kills of the agent. */
import { volumesUnderKills } from '../../harness/engines/volumes-under-kills.js';

for (const kind of ['docker', 'podman'] as const) volumesUnderKills(kind, 12);
