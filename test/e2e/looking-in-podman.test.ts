/** Looking into Pods on Podman. */
import { streamTests } from './looking-in.js';

streamTests('podman');
