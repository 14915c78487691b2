/** kubectl debug on Docker. */
import { debugTests } from './debug-checks.js';

debugTests('docker');
