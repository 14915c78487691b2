/** kubectl debug on Podman. */
import { debugTests } from './debug-checks.js';

debugTests('podman');
