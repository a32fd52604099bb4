import { dateText, HOUR, timestampText } from '../dates.ts';
import type { Random } from '../random.ts';
import type { Fields } from '../records.ts';
import type { PriceHistory } from './price.ts';
import type { Status, Timeline } from './timeline.ts';

/** What the members of the market call a status. */
const MLS_STATUS: Readonly<Record<Status, string>> = {
  Active: 'Active',
  'Active Under Contract': 'Active-Contingent',
  Pending: 'Pending',
  'Coming Soon': 'Coming Soon',
  Closed: 'Sold',
  Expired: 'Expired',
  Canceled: 'Cancelled',
  Withdrawn: 'Withdrawn',
  Hold: 'Temporarily Off Market',
};

export function mlsStatus(status: Status): string {
  return MLS_STATUS[status];
}

const date = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : dateText(time);

function majorChange({ status, backOnMarket }: Timeline, { previous }: PriceHistory): string {
  if (status !== 'Active') return status;
  if (backOnMarket !== undefined) return 'Back On Market';
  return previous === undefined ? 'New Listing' : 'Price Change';
}

/** Status, dates, prices and days on the market. */
export function historyFields(timeline: Timeline, prices: PriceHistory, random: Random): Fields {
  const { status, purchase, close, stopped, onMarket, contract } = timeline;
  const off = close !== undefined || status === 'Pending' ? purchase : stopped;
  const earlier = random.chance(0.1) ? random.integer(20, 120) : 0;
  return {
    StandardStatus: status,
    MlsStatus: mlsStatus(status),
    MajorChangeType: majorChange(timeline, prices),
    ListingContractDate: dateText(contract),
    OriginalEntryTimestamp: timestampText(timeline.entered),
    OnMarketDate: dateText(onMarket),
    ActivationDate: status === 'Coming Soon' ? dateText(onMarket) : undefined,
    BackOnMarketDate: date(timeline.backOnMarket),
    ContractStatusChangeDate: dateText(
      close ?? purchase ?? stopped ?? timeline.backOnMarket ?? Math.min(onMarket, contract),
    ),
    ContingentDate: status === 'Active Under Contract' ? date(purchase) : undefined,
    PurchaseContractDate: date(purchase),
    PendingTimestamp:
      purchase !== undefined && status !== 'Active Under Contract'
        ? timestampText(purchase + random.integer(13, 23) * HOUR)
        : undefined,
    OffMarketDate: date(off),
    OffMarketTimestamp: off === undefined ? undefined : timestampText(off + 12 * HOUR),
    CloseDate: date(close),
    CancellationDate: status === 'Canceled' ? date(stopped) : undefined,
    WithdrawnDate: status === 'Withdrawn' ? date(stopped) : undefined,
    ExpirationDate: dateText(timeline.expiration),
    ListPrice: prices.list,
    OriginalListPrice: prices.original,
    PreviousListPrice: prices.previous,
    ClosePrice: prices.close,
    DaysOnMarket: timeline.days,
    CumulativeDaysOnMarket: timeline.days + earlier,
  };
}
