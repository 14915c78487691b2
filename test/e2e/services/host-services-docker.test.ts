/** Services of a host on Docker. */
import { hostServices } from './host-service-checks.js';

hostServices('docker');
