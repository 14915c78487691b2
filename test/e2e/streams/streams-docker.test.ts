/** exec, attach, cp, port-forward, top and debug on Docker. */
import { streamTests } from './stream-checks.js';

streamTests('docker');
