/**
 * The additions that docs/code-map.md describes: a field, a role, a sub-resource of a listing and a resource are rows in at
 * most two files. The test adds them to a copy of the sources, whose service must then publish them in both interfaces.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFile } from '../support/temporary.ts';

type Support = typeof import('../support/service.ts');
type TestService = Awaited<ReturnType<Support['startTestService']>>;

/** A row to add to a file: at its end, or before the text that ends a table. */
interface Row {
  readonly file: string;
  readonly row: string;
  readonly before?: string;
}

/** The additions, by the words that the code map uses for them. */
const ADDITIONS: Readonly<Record<string, readonly Row[]>> = {
  'field to the dictionary': [
    { file: 'src/dictionary/data/fields/Property.tsv', row: 'SunroomYN\tboolean\t\tidx\n' },
  ],
  'built-in role': [
    {
      file: 'src/access/roles.ts',
      row: `  { name: 'town', classes: ['idx', 'address'], resources: { Property: "City eq 'Fargo'" } },\n`,
      before: '];\n\nexport const BUILT_IN_ACCESS',
    },
  ],
  'sub-resource of a listing': [
    {
      file: 'src/dictionary/data/listing-parts.ts',
      row: `  {
    part: 'certificates',
    expansion: 'Certificates',
    navigation: 'GreenBuildingVerifications',
    otherNames: ['Certificate'],
    resource: 'PropertyGreenVerification',
    own: true,
  },
`,
      before: '] as const satisfies',
    },
    {
      file: 'src/compile/text/native-parts.ts',
      row: `  ['PropertyGreenVerification', { part: 'certificates', members: { Rating: text('GreenVerificationRating') } }],\n`,
      before: ']);\n\n/**\n * The renditions of a photo',
    },
  ],
  resource: [
    { file: 'src/dictionary/data/resources.tsv', row: 'Harbor\tHarborKey\talways\tPort\n' },
    {
      file: 'src/dictionary/data/fields/Harbor.tsv',
      row: 'HarborKey\tstring(255)\t\topen\nModificationTimestamp\ttimestamp\t\topen\nBerths\tinteger(4)\t\tidx\n',
    },
  ],
};

function copySources(): string {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const copy = temporaryFile('');
  for (const path of ['src', 'test/support', 'package.json', 'tsconfig.json', 'packages']) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function add(copy: string, { file, row, before: end }: Row): void {
  const path = join(copy, file);
  if (end === undefined) {
    appendFileSync(path, row);
    return;
  }
  const [head = '', tail, ...others] = readFileSync(path, 'utf8').split(end);
  assert.ok(tail !== undefined && others.length === 0, `${file} has one table that ends with ${end}`);
  writeFileSync(path, `${head}${row}${end}${tail}`);
}

describe('an addition is rows in at most two files', () => {
  const copy = copySources();
  const ends: (() => Promise<void> | void)[] = [];
  let service: TestService;
  let all: string;
  let town: string;

  before(async () => {
    for (const rows of Object.values(ADDITIONS)) for (const row of rows) add(copy, row);
    const support: Support = await import(join(copy, 'test/support/service.ts'));
    service = await support.startTestService(
      { after: (work) => void ends.push(work) },
      {
        fill: async ({ write }) => {
          const certificate = { GreenBuildingVerificationKey: 'C1', GreenVerificationRating: 'Gold' };
          const fargo = { ListingKey: '1', StandardStatus: 'Active', City: 'Fargo', SunroomYN: true };
          await write(
            'Property',
            { ...fargo, GreenBuildingVerifications: [certificate] },
            { ListingKey: '2', StandardStatus: 'Active', City: 'Moorhead', SunroomYN: false },
          );
          await write('Harbor', { HarborKey: 'H1', Berths: 12 });
        },
      },
    );
    all = await service.key('api');
    town = await service.key('api', { role: 'town' });
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });

  const get = async (path: string, token: string): Promise<unknown> => {
    const answer = await service.get('api', path, { token });
    assert.equal(answer.status, 200, answer.text);
    return JSON.parse(answer.text);
  };
  const reso = async (path: string, token = all): Promise<unknown> => {
    const body = await get(`/Reso/OData/${path}`, token);
    assert.ok(typeof body === 'object' && body !== null && 'value' in body);
    return body.value;
  };
  const native = async (path: string, token = all): Promise<unknown> => {
    const body = await get(`/v1/${path}`, token);
    assert.ok(typeof body === 'object' && body !== null && 'D' in body);
    const { D: envelope } = body;
    assert.ok(typeof envelope === 'object' && envelope !== null && 'Results' in envelope);
    return JSON.parse(JSON.stringify(envelope.Results), (name, value) =>
      ['ResourceUri', 'LastCachedTimestamp', 'DisplayCompliance'].includes(name) ? undefined : value,
    );
  };

  it('touches the files that the code map names', () => {
    const map = readFileSync(new URL('../../docs/code-map.md', import.meta.url), 'utf8');
    for (const [what, rows] of Object.entries(ADDITIONS)) {
      const [, cell = ''] = new RegExp(`^\\| add an? ${what} \\| (.*) \\|$`, 'm').exec(map) ?? [];
      const named = [...cell.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path);
      const touched = rows.map(({ file }) => file.replace(/fields\/\w+\.tsv/, 'fields/<Resource>.tsv'));
      assert.deepEqual(touched, named, what);
      assert.ok(new Set(touched).size <= 2, what);
    }
  });

  it('publishes a new field and filters by it', async () => {
    assert.deepEqual(await reso('Property?$filter=SunroomYN eq true&$select=ListingKey,SunroomYN'), [
      { ListingKey: '1', SunroomYN: true },
    ]);
    assert.deepEqual(await native('listings?_filter=SunroomYN Eq true&_select=SunroomYN'), [
      { Id: '1', StandardFields: { SunroomYN: true } },
    ]);
  });

  it('shows a new role only its rows', async () => {
    assert.deepEqual(await reso('Property?$select=ListingKey', town), [{ ListingKey: '1' }]);
    assert.deepEqual(await native('listings?_select=City', town), [
      { Id: '1', StandardFields: { City: 'Fargo' } },
    ]);
  });

  it('publishes a new sub-resource by path and by expansion', async () => {
    const certificate = { Id: 'C1', Rating: 'Gold' };
    assert.deepEqual(await native('listings/1/certificates'), [certificate]);
    assert.deepEqual(await native('listings/1/certificates/C1'), [certificate]);
    assert.deepEqual(await native('listings/1?_select=City&_expand=Certificates'), [
      { Id: '1', StandardFields: { City: 'Fargo', Certificates: [certificate] } },
    ]);
    assert.deepEqual(
      await reso('Property?$select=ListingKey&$expand=Certificate($select=GreenVerificationRating)&$top=1'),
      [{ ListingKey: '1', Certificate: [{ GreenVerificationRating: 'Gold' }] }],
    );
  });

  it('publishes a new resource under all its names', async () => {
    const rows = [{ HarborKey: 'H1', Berths: 12 }];
    assert.deepEqual(await reso('Harbor?$filter=Berths gt 10&$select=HarborKey,Berths'), rows);
    assert.deepEqual(await reso('Port?$select=HarborKey,Berths'), rows);
    const { text } = await service.get('api', '/Reso/OData/$metadata', { token: all });
    assert.match(text, /<EntitySet Name="Harbor" EntityType="[\w.]+\.Harbor"/);
  });

  it('compiles', { skip: process.env.PLAT_FULL !== '1' && 'PLAT_FULL=1 checks types' }, () => {
    execFileSync(join(copy, 'node_modules/.bin/tsc'), ['--noEmit', '-p', copy], { stdio: 'inherit' });
  });
});
