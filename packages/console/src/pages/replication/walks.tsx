/** The keys that are walking through the data of this service: their progress and speed, and what each key read in the span. */

import { useEffect } from 'preact/hooks';
import { pathSeenBy } from '../../app/api.ts';
import { counted, whole } from '../../parts/figures.ts';
import { Table } from '../../parts/table.tsx';
import { type Lane, type Mark, TimeLine } from '../../parts/time-line.tsx';
import { latestOf, useAnswer } from '../../parts/use-loaded.ts';
import type { KeyWalks, Walk } from './report.ts';
import { ago, moment, span } from './words.ts';

interface Keys {
  readonly keys: readonly { readonly id: string; readonly name: string; readonly role: string }[];
}

interface WalksProps {
  readonly walks: readonly KeyWalks[];
  readonly at: number;
  readonly length: number;
}

export function WalksView({ walks, at, length }: WalksProps) {
  const [asked, again] = useAnswer<Keys>('/keys');
  const keys = asked.kind === 'failed' ? [] : latestOf(asked)?.body.keys;
  const unknown =
    keys === undefined ? 0 : walks.filter(({ key }) => !keys.some(({ id }) => id === key)).length;
  // A key was created after the list had been loaded.
  useEffect(() => {
    if (unknown > 0) again();
  }, [unknown]);
  const nameOf = (key: string): string => keys?.find(({ id }) => id === key)?.name ?? key;
  const current = walks.flatMap(({ key, current: list }) => list.map((walk) => ({ key, walk })));
  return (
    <section class="card" aria-labelledby="walks">
      <h2 id="walks">Walks through this service</h2>
      {walks.length === 0 ? (
        <p class="hint">No key has walked through the records since this process started.</p>
      ) : (
        <>
          <h3>In progress</h3>
          {current.length === 0 ? (
            <p class="hint">No key is walking through the records now.</p>
          ) : (
            <Table
              label="Walks in progress"
              class="walks"
              rows={current}
              keyOf={({ key, walk }) =>
                `${key} ${walk.surface} ${walk.resource} ${walk.of} ${walk.window ?? ''}`
              }
              columns={[
                { title: 'Key', cell: ({ key }) => nameOf(key) },
                {
                  title: 'Reads',
                  cell: ({ walk }) => (
                    <>
                      {titleOf(walk)}
                      <span class="hint"> by {walk.surface}</span>
                    </>
                  ),
                },
                { title: 'So far', cell: ({ key, walk }) => <SoFar keyId={key} walk={walk} /> },
                { title: 'Pages per minute', isNumber: true, cell: ({ walk }) => whole(walk.pagesPerMinute) },
                { title: 'Last request', cell: ({ walk }) => ago(walk.last, at) },
              ]}
            />
          )}
          <h3>What was read</h3>
          <TimeLine
            label="Windows and walks of each key that this process answered"
            from={at - length}
            to={at}
            lanes={walks.map((each) => laneOf(each, nameOf(each.key)))}
            columns={['Took', 'Records', 'Pages', 'Read', 'Result']}
          />
        </>
      )}
    </section>
  );
}

function titleOf({ resource, of, window }: Walk): string {
  switch (of) {
    case 'records':
      return `all of ${resource}`;
    case 'keys':
      return `the keys of ${resource}`;
    case 'window': {
      const [from = '', to = ''] = (window ?? '').split('/');
      const bounds = [from === '' ? '' : ` from ${moment(from)}`, to === '' ? '' : ` to ${moment(to)}`];
      return `changes of ${resource}${bounds.join('')}`;
    }
  }
}

/** The resources of which a key sees the records that it walks through; the native interface's accounts are two resources. */
const COUNTED: Readonly<Record<string, readonly [string, string]>> = { accounts: ['Member', 'Office'] };

function SoFar({ keyId, walk }: { readonly keyId: string; readonly walk: Walk }) {
  const { resource, of, surface, rows, isPart } = walk;
  const [first, second] = COUNTED[resource] ?? [resource, undefined];
  const countOf = (name: string | undefined): string | undefined =>
    of === 'window' || name === undefined
      ? undefined
      : pathSeenBy(`key/${keyId}`, surface, `/Reso/OData/${encodeURIComponent(name)}/$count`);
  const [one] = useAnswer<number>(countOf(first), COUNT);
  const [other] = useAnswer<number>(countOf(second), COUNT);
  const seen = [one, ...(second === undefined ? [] : [other])].map((asked) =>
    asked.kind === 'loaded' ? Number(asked.value.body) : Number.NaN,
  );
  const total = seen.reduce((sum, each) => sum + each, 0);
  const isKnown = of !== 'window' && !isPart && Number.isFinite(total);
  return (
    <>
      {isKnown ? (
        <progress
          aria-label={`Share of ${resource}`}
          max={Math.max(1, total)}
          value={Math.min(rows, total)}
        />
      ) : null}
      <span>
        {whole(rows)}
        {isKnown ? ` of ${whole(total)}` : isPart ? ' since this process saw it' : ''}
      </span>
    </>
  );
}

const COUNT = { accept: 'text/plain' } as const;

function laneOf({ current, ended }: KeyWalks, name: string): Lane {
  return { name, marks: [...ended, ...current].map(markOf) };
}

const RESULTS: Readonly<Record<Walk['state'], string>> = {
  walking: 'in progress',
  done: 'read to its end',
  left: 'not read to its end',
};

function markOf(walk: Walk): Mark {
  const { began, last, rows, pages, state, of } = walk;
  const took = span(last - began);
  const looks = { walking: 'open', left: 'bad', done: of === 'window' ? 'plain' : 'second' } as const;
  return {
    from: began,
    to: last,
    look: looks[state],
    text: `${titleOf(walk)}, ${moment(began)}: ${counted(rows, 'record')} in ${counted(pages, 'page')}, ${took}, ${RESULTS[state]}`,
    cells: [took, whole(rows), whole(pages), titleOf(walk), RESULTS[state]],
  };
}
