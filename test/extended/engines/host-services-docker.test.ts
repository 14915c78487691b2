/** Services of a host on Docker. */
import { hostServices } from '../../e2e/services/host-service-checks.js';

hostServices('docker');
