/** Services of a host on Podman. */
import { hostServices } from './host-service-checks.js';

hostServices('podman');
