/** The open houses, units, agents and offices of a listing. */

import { Fact } from '../../parts/fact.tsx';
import { FileLink } from '../../parts/files.tsx';
import { type Fields, type ListingRecord, linkedOf, partOf, textOf } from '../../parts/listing-record.ts';
import { Table, type TableColumn } from '../../parts/table.tsx';
import { inZone, isEmpty, shownValue } from '../../parts/words.ts';

const value = (record: Fields, field: string): string =>
  isEmpty(record[field]) ? '' : shownValue(field, record[field]);

/** Those of the fields that have values. */
const values = (record: Fields, ...fields: readonly string[]): string =>
  fields
    .map((field) => value(record, field))
    .filter(Boolean)
    .join(' · ');

/** The times of an open house, in the time zone of the record if it names one. */
function timesOf(house: Fields, zone: string | undefined): string {
  const [from, until] = [textOf(house, 'OpenHouseStartTime'), textOf(house, 'OpenHouseEndTime')];
  if (from === undefined) return '';
  const begins = inZone(zone, { timeStyle: 'short' }).format(new Date(from));
  const end = inZone(zone, { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' });
  return until === undefined ? begins : `${begins} to ${end.format(new Date(until))}`;
}

export function OpenHouses({ record }: { readonly record: ListingRecord }) {
  const houses = partOf(record, 'OpenHouses').toSorted((left, right) =>
    value(left, 'OpenHouseStartTime') < value(right, 'OpenHouseStartTime') ? -1 : 1,
  );
  const zone = textOf(record, 'PropertyTimeZoneName');
  if (houses.length === 0) return null;
  return (
    <section aria-labelledby="open-houses">
      <h2 id="open-houses">Open houses</h2>
      <Table
        label="Table of open houses"
        rows={houses}
        keyOf={({ OpenHouseKey }) => String(OpenHouseKey)}
        columns={[
          { title: 'Day', cell: ({ OpenHouseDate }) => shownValue('OpenHouseDate', OpenHouseDate) },
          { title: 'Time', class: 'figure', cell: (house) => timesOf(house, zone) },
          { title: 'For', cell: (house) => value(house, 'OpenHouseType') },
          { title: 'Status', cell: (house) => value(house, 'OpenHouseStatus') },
          {
            ...{ title: 'Notes', class: 'note' },
            cell: (house) => (
              <>
                {values(house, 'OpenHouseRemarks', 'Refreshments')}
                {isEmpty(house.LivestreamOpenHouseURL) ? null : (
                  <FileLink address={house.LivestreamOpenHouseURL} served={undefined}>
                    Live stream
                  </FileLink>
                )}
              </>
            ),
          },
        ]}
      />
    </section>
  );
}

export function Units({ record }: { readonly record: ListingRecord }) {
  const units = partOf(record, 'UnitTypes');
  if (units.length === 0) return null;
  return (
    <section aria-labelledby="units">
      <h2 id="units">Units</h2>
      <Table
        label="Table of units"
        rows={units}
        keyOf={({ UnitTypeKey }) => String(UnitTypeKey)}
        columns={[
          { title: 'Unit', cell: (unit) => value(unit, 'UnitTypeType') || 'Unit' },
          ...UNIT_FIGURES.map(
            ([field, title]): TableColumn<Fields> => ({
              ...{ title, isNumber: true, cell: (unit) => value(unit, field) },
            }),
          ),
          {
            ...{ title: 'Notes', class: 'note' },
            cell: (unit) => values(unit, 'UnitTypeFurnished', 'UnitTypeDescription'),
          },
        ]}
      />
    </section>
  );
}

const UNIT_FIGURES = [
  ['UnitTypeUnitsTotal', 'Units'],
  ['UnitTypeBedsTotal', 'Beds'],
  ['UnitTypeBathsTotal', 'Baths'],
  ['UnitTypeActualRent', 'Rent'],
  ['UnitTypeProForma', 'Expected rent'],
] as const;

const SIDES = [
  ['List', 'Listing agent'],
  ['CoList', 'Second listing agent'],
  ['Buyer', "Buyer's agent"],
  ['CoBuyer', "Second buyer's agent"],
] as const;

/** Agents and offices from their own records or, without such a record, from the listing. */
export function People({ record }: { readonly record: ListingRecord }) {
  const sides = SIDES.filter(
    ([side]) => !isEmpty(record[`${side}AgentKey`]) || !isEmpty(record[`${side}OfficeKey`]),
  );
  if (sides.length === 0) return null;
  return (
    <section aria-labelledby="people">
      <h2 id="people">Agents and offices</h2>
      <div class="people">
        {sides.map(([side, title]) => (
          <Side
            key={side}
            title={title}
            record={record}
            side={side}
            agent={linkedOf(record, `${side}Agent`)}
            office={linkedOf(record, `${side}Office`)}
          />
        ))}
      </div>
    </section>
  );
}

function Side({
  title,
  record,
  side,
  agent,
  office,
}: {
  readonly title: string;
  readonly record: Fields;
  readonly side: string;
  readonly agent: Fields | undefined;
  readonly office: Fields | undefined;
}) {
  const name = agent === undefined ? value(record, `${side}AgentFullName`) : value(agent, 'MemberFullName');
  const officeName = office === undefined ? value(record, `${side}OfficeName`) : value(office, 'OfficeName');
  const facts: readonly (readonly [string, string])[] = [
    [
      'Phone',
      agent === undefined
        ? value(record, `${side}AgentPreferredPhone`)
        : value(agent, 'MemberPreferredPhone'),
    ],
    ['Email', agent === undefined ? value(record, `${side}AgentEmail`) : value(agent, 'MemberEmail')],
    ['License', agent === undefined ? '' : value(agent, 'MemberStateLicense')],
    ['Status', agent === undefined ? '' : value(agent, 'MemberStatus')],
    ['Office', officeName],
    [
      'Office phone',
      office === undefined ? value(record, `${side}OfficePhone`) : value(office, 'OfficePhone'),
    ],
    [
      'Office address',
      office === undefined
        ? ''
        : ['OfficeAddress1', 'OfficeCity', 'OfficeStateOrProvince', 'OfficePostalCode']
            .map((field) => value(office, field))
            .filter(Boolean)
            .join(', '),
    ],
  ];
  return (
    <div class="card">
      <h3>{title}</h3>
      <p class="person">{name || 'Name not shown'}</p>
      <dl>
        {facts
          .filter(([, text]) => text !== '')
          .map(([word, text]) => (
            <Fact key={word} name={word}>
              {text}
            </Fact>
          ))}
      </dl>
      {agent === undefined && !isEmpty(record[`${side}AgentKey`]) ? (
        <p class="hint">The agent's own record is not shown here.</p>
      ) : null}
    </div>
  );
}
