/** Looking into Pods on Docker. */
import { streamTests } from './looking-in.js';

streamTests('docker');
