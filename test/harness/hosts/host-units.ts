/** What units of test hosts are told: what test machines cannot give, for they lack CAP_SYS_RESOURCE, and what their disks must not decide. */
import { AMPLE_HOST_LINES } from '../pods/ample-host.js';

/** Path and text of drop-ins for a host. */
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
