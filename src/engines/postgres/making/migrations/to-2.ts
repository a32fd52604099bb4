import type { Migration } from './migration.ts';

/**
 * Which partition holds the records of an originating system. Stores of layout 1 have no partitions, and this table
 * stays empty in them; so those that know nothing of it may go on.
 */
export const toLayout2: Migration = {
  layout: 2,
  oldestReader: 1,
  oldestWriter: 1,
  run: async (session) => {
    await session.run(
      'CREATE TABLE plat_partitions (system text COLLATE "C" PRIMARY KEY, number integer NOT NULL UNIQUE)',
    );
  },
};
