/** Explore: what an interface gives to a role or key. */
import { seenThrough } from '../../app/api.ts';
import { query } from '../../app/route.ts';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { useAnswer } from '../../parts/use-answer.ts';

interface Collection {
  readonly value: readonly Readonly<Record<string, unknown>>[];
}

export function Explore() {
  const eyes = query.value.get('as') ?? 'role/private';
  const [asked, again] = useAnswer<Collection>(seenThrough(eyes, 'api', '/Reso/OData/Property?$top=25'));
  return (
    <>
      <h1>Explore</h1>
      {asked.kind === 'loading' ? (
        <Loading what="listings" />
      ) : asked.kind === 'failed' ? (
        <Problem error={asked.error} again={again} />
      ) : asked.answer.body.value.length === 0 ? (
        <Empty title="There are no listings" />
      ) : (
        <ul>
          {asked.answer.body.value.map((record) => (
            <li key={record.ListingKey}>{String(record.ListingKey)}</li>
          ))}
        </ul>
      )}
    </>
  );
}
