export { CUSTOM_FIELDS, CUSTOM_LOOKUPS } from './custom-fields.ts';
export type { Drawing } from './draw/rasterize.ts';
export { type DrawnFile, drawFile, type MediaSource } from './files.ts';
export { type Change, LiveMarket, type MarketStore } from './live/live-market.ts';
export { runLive } from './live/run.ts';
export { type Market, type MarketOptions, makeMarket, marketRecords, REFERENCE_DATE } from './market.ts';
export { RENDITIONS } from './photo-shape.ts';
export { makeRandom, type Random } from './random.ts';
export type { ImportRecord, MarketRecord, MarketResource } from './records.ts';
