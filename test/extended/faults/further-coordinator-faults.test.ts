/** A rollout continues through further faults of coordinators, of etcd, of disks and of clocks. */
import { coordinatorFaults, FURTHER_RULES } from '../../e2e/cluster/coordinator-fault-rules.js';

coordinatorFaults('further ones', FURTHER_RULES);
