/** Entry point of the bundled agent: the program itself, or a helper process selected by the first argument. */
import { DIAL_HELPER } from './runtime/network-dialer.js';
import { FLEET_WORKER } from './simulate/fleet-supervisor.js';

switch (process.argv[2]) {
  case DIAL_HELPER.name:
    void import('./runtime/dial-helper.js');
    break;
  case FLEET_WORKER.name:
    void import('./simulate/fleet-worker.js');
    break;
  default:
    void import('./program/agent-cli.js');
}
