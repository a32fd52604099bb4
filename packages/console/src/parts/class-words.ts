/** Descriptions of the visibility classes for brokers (docs/roles.md). */
const WORDS: Readonly<Record<string, string>> = {
  open: 'Keys and times of changes. Every role sees them.',
  idx: 'What brokers show each other: status, prices, sizes, rooms, features, remarks, names of agents and offices',
  address: 'The address, parcel numbers, directions and the place on the map',
  facts: 'Other facts about a house and its surroundings',
  'address-facts': 'Facts that reveal the location: map numbers, legal description, township',
  history: 'Days on market, earlier prices, entry and contract dates',
  private: 'Showing instructions, owners, commissions, private remarks, office use',
};

/** @returns undefined for an operator's own class */
export const classWords = (name: string): string | undefined => WORDS[name];
