/** Looking into Pods on Docker. */
import { streamTests } from './stream-checks.js';

streamTests('docker');
