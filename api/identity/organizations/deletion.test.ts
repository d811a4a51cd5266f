import test from 'ava';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createCampaign, createMember, createMailbox } from '../../../test/harness/factories.ts';
