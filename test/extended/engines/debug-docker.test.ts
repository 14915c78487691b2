/** kubectl debug on Docker. */
import { debugTests } from '../../e2e/streams/debug-checks.js';

debugTests('docker');
