/** The roles of the store and the classes of its fields, as `GET /roles` returns them. */
interface SeenRows {
  /** Empty: every row. */
  readonly filter: string;
  /** With the terms for the current day resolved. */
  readonly today?: string;
}

export interface SeenRole {
  readonly name: string;
  readonly isOwn: boolean;
  readonly classes: readonly string[];
  readonly seesWithheld: boolean;
  readonly rows: Readonly<Record<string, SeenRows>>;
}

export interface ClassedResource {
  readonly name: string;
  readonly key: string;
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

export interface Withheld {
  readonly resource: string;
  readonly classes: readonly string[];
  readonly shownWhen: string;
}

export interface RolesInForce {
  readonly day: string;
  readonly classes: readonly string[];
  readonly roles: readonly SeenRole[];
  readonly withheld: readonly Withheld[];
  readonly resources: readonly ClassedResource[];
}
