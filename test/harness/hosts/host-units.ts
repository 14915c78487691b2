/**
 * Drop-ins for units of test hosts. They remove settings that require CAP_SYS_RESOURCE, which test machines lack, and
 * make tests independent of the machine's free disk space.
 */
import { AMPLE_HOST_LINES } from '../pods/ample-host.js';

/** Path and text of the drop-ins. */
export const UNITS_OF_TESTS: readonly (readonly [string, string])[] = [
  [
    '/etc/systemd/system/everynode-agent.service.d/test.conf',
    `[Service]\nOOMScoreAdjust=0\n${AMPLE_HOST_LINES}`,
  ],
  [
    '/etc/systemd/system/everynode-coordinator.service.d/test.conf',
    '[Service]\nOOMScoreAdjust=0\nLimitNOFILE=20000\n',
  ],
];
