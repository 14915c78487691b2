/** exec, attach, cp, port-forward, top and debug on Podman. */
import { streamTests } from './stream-checks.js';

streamTests('podman');
