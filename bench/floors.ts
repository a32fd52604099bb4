/** The floors: a page of 1,000 records without a database. */
import { operations, TIME } from '../test/support/world.ts';
import { measure, megabytes } from './support/measure.ts';
import { PAGE } from './support/reads.ts';
import type { Subject } from './support/subject.ts';

export const CONCATENATED = '1000 prepared buffers concatenated';
export const STRINGIFIED = 'JSON.stringify of 1000 objects';

export const floors: Subject = {
  title: 'floors',
  floors: [CONCATENATED, STRINGIFIED],
  async run({ store, clock }) {
    const { request } = operations(store, clock);
    const asked = await request('Property', '', { limit: PAGE });
    const { body, release } = await store.page(asked, TIME);
    const objects: readonly unknown[] = JSON.parse(`[${new TextDecoder().decode(body)}]`);
    release?.();
    const buffers = objects.map((object) => Buffer.from(`${JSON.stringify(object)},`));
    return [
      await measure(
        CONCATENATED,
        () => `${buffers.length} rows, ${megabytes(Buffer.concat(buffers).length)}`,
      ),
      await measure(
        STRINGIFIED,
        () => `${objects.length} rows, ${megabytes(JSON.stringify(objects).length)}`,
      ),
    ];
  },
};
