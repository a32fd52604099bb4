/** The classes that decide who sees a field, as a broker would say it (docs/roles.md). */
const WORDS: Readonly<Record<string, string>> = {
  open: 'Keys and times of changes. Every role sees them.',
  idx: 'What brokers show each other: status, prices, sizes, rooms, features, remarks, names of agents and offices',
  address: 'The address, parcel numbers, directions and the place on the map',
  facts: 'Other facts about a house and its surroundings',
  'address-facts': 'Facts that give the place away: map numbers, legal description, township',
  history: 'Days on market, earlier prices, entry and contract dates',
  private: 'Showing instructions, owners, commissions, private remarks, office use',
};

/** @returns undefined for a class of the operator's own */
export const classWords = (name: string): string | undefined => WORDS[name];
