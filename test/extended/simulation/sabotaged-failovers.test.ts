/** That each rule on failovers can be broken, and says so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FAILOVER_PROOFS } from '../../simulation/sabotage/failover-proofs.js';
import { violationOf } from '../../simulation/sabotage/sabotage-proof.js';

describe('a fault at a failover breaks the rule that covers it', () => {
  for (const proof of FAILOVER_PROOFS)
    test(proof.what, async () => {
      const violation = await violationOf(proof);
      assert.ok(violation.startsWith(proof.rule), violation);
      assert.match(violation, proof.how);
    });
});
