/** exec, attach, cp, port-forward, top and debug on Podman. */
import { streamTests } from '../../e2e/streams/stream-checks.js';

streamTests('podman');
