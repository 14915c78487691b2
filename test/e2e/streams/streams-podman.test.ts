/** Looking into Pods on Podman. */
import { streamTests } from './stream-checks.js';

streamTests('podman');
