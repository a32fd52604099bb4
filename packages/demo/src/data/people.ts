export const FIRST_NAMES: readonly string[] = [
  ...['Aaron', 'Abigail', 'Adele', 'Alan', 'Alejandra', 'Amara', 'Andre', 'Anita', 'Beatrice', 'Benjamin'],
  ...['Brenda', 'Caleb', 'Carmen', 'Cedric', 'Chloe', 'Claire', 'Colin', 'Dalia', 'Daniel', 'Darnell'],
  ...['Deborah', 'Diego', 'Elena', 'Eli', 'Emily', 'Esther', 'Felix', 'Fiona', 'Frank', 'Gabriela', 'Gordon'],
  ...['Grace', 'Hannah', 'Harold', 'Hector', 'Helen', 'Ian', 'Imani', 'Irene', 'Isaac', 'Jamal', 'Janet'],
  ...['Jasmine', 'Joel', 'Joyce', 'Julia', 'Karen', 'Keith', 'Kiran', 'Laura', 'Leon', 'Lucia', 'Malik'],
  ...['Marcus', 'Margaret', 'Mei', 'Miriam', 'Nadia', 'Nathan', 'Nora', 'Oliver', 'Omar', 'Paige', 'Patrick'],
  ...['Priya', 'Rachel', 'Rafael', 'Renee', 'Rosa', 'Samuel', 'Sandra', 'Simon', 'Sofia', 'Stella', 'Tanya'],
  ...['Theodore', 'Thomas', 'Valerie', 'Victor', 'Wanda', 'Wesley', 'Yolanda', 'Yusuf', 'Zachary', 'Zoe'],
];

export const LAST_NAMES: readonly string[] = [
  ...['Abbott', 'Aguilar', 'Albrecht', 'Andersen', 'Baptiste', 'Barlow', 'Becker', 'Bergstrom', 'Blackwell'],
  ...['Boyd', 'Brandt', 'Callahan', 'Carver', 'Castillo', 'Chen', 'Coleman', 'Cortez', 'Dahl', 'Delgado'],
  ...['Desai', 'Dixon', 'Donnelly', 'Eriksson', 'Espinoza', 'Falk', 'Ferraro', 'Fitzgerald', 'Fontaine'],
  ...[
    'Gallagher',
    'Garza',
    'Goldberg',
    'Hadley',
    'Haines',
    'Harding',
    'Hassan',
    'Hofmann',
    'Holloway',
    'Huang',
  ],
  ...['Ibarra', 'Jansen', 'Kaplan', 'Kowalski', 'Lambert', 'Larsen', 'Lindqvist', 'Lombardi', 'Mackey'],
  ...['Marchetti', 'McBride', 'Mendoza', 'Merritt', 'Monroe', 'Nakamura', 'Navarro', 'Nguyen', 'Novak'],
  ...['Okafor', 'Olsen', 'Ortega', 'Osborne', 'Patel', 'Pfeiffer', 'Pruitt', 'Quinn', 'Ramirez', 'Reyes'],
  ...['Rinaldi', 'Rowe', 'Salazar', 'Sandoval', 'Schaefer', 'Sheridan', 'Singh', 'Sokolov', 'Stanton'],
  ...['Strand', 'Tanaka', 'Thorpe', 'Underwood', 'Vance', 'Vandermeer', 'Vogel', 'Wallace', 'Weaver'],
  ...['Whitaker', 'Winslow', 'Yamada', 'Zeller', 'Zimmerman'],
];

/** First parts of brokerage names; none is a franchise. */
export const BROKERAGES: readonly string[] = [
  ...['Anchorline', 'Blue Heron', 'Brightwater', 'Calder & Vance', 'Copperleaf', 'Cornerstone Lake'],
  ...['Crestmark', 'Dune Grass', 'Evergreen Gate', 'First Light', 'Fourth Coast', 'Greenbelt', 'Harborstone'],
  ...['Hearth & Key', 'Ironwood', 'Keystone Shore', 'Lantern', 'Longview', 'Mapletree', 'Merritt Lane'],
  ...['North Pier', 'Open Gate', 'Peninsula', 'Red Barn', 'Sable River', 'Sandbar', 'Sixpenny', 'Slate Roof'],
  ...[
    'Stonebridge',
    'Sunup',
    'Tamarack',
    'Third Street',
    'True Plumb',
    'Twin Elms',
    'Union Square',
    'Waymark',
  ],
];

export const BROKERAGE_ENDINGS: readonly string[] = [
  'Realty',
  'Real Estate',
  'Homes',
  'Properties',
  'Realty Group',
  'Brokerage',
  'Real Estate Partners',
  'Residential',
];
