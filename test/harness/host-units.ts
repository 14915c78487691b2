/** What test machines cannot give to units, for they lack CAP_SYS_RESOURCE. */

/** Path and text of drop-ins for a host. */
export const OOM_OF_TESTS: readonly (readonly [string, string])[] = [
  ['/etc/systemd/system/everynode-agent.service.d/test.conf', '[Service]\nOOMScoreAdjust=0\n'],
  [
    '/etc/systemd/system/everynode-coordinator.service.d/test.conf',
    '[Service]\nOOMScoreAdjust=0\nLimitNOFILE=20000\n',
  ],
];
